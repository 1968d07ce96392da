// Command game stands in for a game. It writes its arguments to a file next to itself, and fails if
// the last one is "fail".
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
