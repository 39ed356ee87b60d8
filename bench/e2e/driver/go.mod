module reprieve.dev/bench/driver

go 1.26.0
