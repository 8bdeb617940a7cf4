#!/bin/sh
# An agent in curl and jq: asks the model, calls the tools that it asks for, answers.
set -eu
ask() {
  curl -sS --fail-with-body "$1" -d @- -H "Authorization: Bearer $OPSGYM_KEY" \
    -H "Content-Type: application/json" -H "Accept: application/json, text/event-stream"
}
call_tool() { # $1: a call of the model; prints the result as the model reads it
  name=$(printf %s "$1" | jq -r .function.name)
  url=$(jq -r --arg name "$name" '[.mcpServers[] | select(.tools | index($name))][0].url // .mcpServers[0].url' task.json)
  printf %s "$1" | jq '{jsonrpc: "2.0", id: 1, method: "tools/call",
    params: {name: .function.name, arguments: (.function.arguments | fromjson)}}' | ask "$url"
}

for url in $(jq -r '.mcpServers[].url' task.json); do
  echo '{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}' | ask "$url" >>lists.json
done
jq -s '[.[].result.tools[] | {type: "function", function: {name, description, parameters: .inputSchema}}]' lists.json >tools.json
jq '[{role: "system", content: .systemPrompt}, {role: "user", content: .userPrompt}]' task.json >messages.json

while :; do
  jq --slurpfile tools tools.json --arg model "$OPSGYM_MODEL" '{model: $model, messages: ., tools: $tools[0]}' messages.json |
    ask "$OPENAI_BASE_URL/chat/completions" >completion.json
  jq '.choices[0].message' completion.json >reply.json
  jq --slurpfile reply reply.json '. + $reply' messages.json >new.json && mv new.json messages.json
  jq -c '.tool_calls[]?' reply.json >calls.json
  [ -s calls.json ] || break
  while read -r call; do
    call_tool "$call" >result.json
    jq --argjson call "$call" --slurpfile result result.json \
      '. + [{role: "tool", tool_call_id: $call.id, content: ($result[0] | tojson)}]' messages.json >new.json
    mv new.json messages.json
  done <calls.json
done
jq '{answer: (.content // "")}' reply.json | ask "$OPSGYM_URL/opsgym/v1/answer"
