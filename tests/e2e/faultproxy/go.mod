module reprieve.dev/tests/faultproxy

go 1.26.0
