// Stands in for an image's program in benchmarks of the operator: a task pod of it does nothing and passes.
//
// It is called `python` and `pg_isready`. What is not a task pod's part (the preflight, the export of suites) is handed to
// the image's own Python.
package main

import (
	"encoding/json"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const python = "/opt/opsgym/bin/python"

func main() {
	switch called := strings.Join(os.Args[1:], " "); {
	case filepath.Base(os.Args[0]) == "pg_isready":
	case strings.HasPrefix(called, "-m opsgym_runner task"):
		pass()
	case strings.HasPrefix(called, "-m opsgym_domains.postgres run"):
		waitForEnd()
	case strings.HasPrefix(called, "-m opsgym_domains.serve "):
		serve()
	default:
		check(syscall.Exec(python, append([]string{python}, os.Args[1:]...), os.Environ()))
	}
}

// pass reports that the trial at this pod's index has passed.
func pass() {
	started := time.Now().UTC()
	var spec struct {
		Cell   json.RawMessage `json:"cell"`
		Trials []struct {
			Task  string `json:"task_id"`
			Trial int    `json:"trial"`
		} `json:"trials"`
	}
	content, err := os.ReadFile(os.Getenv("OPSGYM_JOB_SPEC"))
	check(err)
	check(json.Unmarshal(content, &spec))
	index, err := strconv.Atoi(os.Getenv("JOB_COMPLETION_INDEX"))
	check(err)
	summary, err := json.Marshal(map[string]any{
		"cell":    spec.Cell,
		"task_id": spec.Trials[index].Task,
		"trial":   spec.Trials[index].Trial,
		"attempt": 0,
		"outcome": "passed",
		"timings": map[string]any{"started_at": started.Format("2006-01-02T15:04:05.000Z"), "total_s": 0},
	})
	check(err)
	check(os.WriteFile("/dev/termination-log", summary, 0o644))
}

// serve answers every request, as a gym server that is ready does.
func serve() {
	port := ""
	for index, argument := range os.Args {
		if argument == "--port" {
			port = os.Args[index+1]
		}
	}
	go func() {
		check(http.ListenAndServe(":"+port, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})))
	}()
	waitForEnd()
}

func waitForEnd() {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM, syscall.SIGINT)
	<-ended
}

func check(err error) {
	if err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
}
