// Game stands for a game: it writes down what it was started with, beside itself, and
// ends badly if its last word is "fail".
package main

import (
	"encoding/json"
	"os"
)

func main() {
	argv, err := json.Marshal(os.Args[1:])
	if err != nil {
		panic(err)
	}
	file := os.Args[0] + ".json"
	if err := os.WriteFile(file+".part", argv, 0o600); err != nil {
		panic(err)
	}
	if err := os.Rename(file+".part", file); err != nil {
		panic(err)
	}
	if os.Args[len(os.Args)-1] == "fail" {
		os.Exit(3)
	}
}
