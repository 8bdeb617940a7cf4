module opsgym.dev/benchmarks/trivial

go 1.22
