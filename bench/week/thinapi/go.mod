module reprieve.dev/bench/thinapi

go 1.26.0
