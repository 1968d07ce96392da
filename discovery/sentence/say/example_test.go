package say_test

import (
	"fmt"

	"muster/discovery/sentence"
	"muster/discovery/sentence/say"
)

func ExampleIn() {
	wait := sentence.Lasting(90e9) // a time.Duration
	for _, language := range []string{"en", "de-AT", "ja", "eo"} {
		fmt.Println(say.In(language, wait))
	}
	// Output:
	// 1 minute 30 seconds
	// 1 Minute 30 Sekunden
	// 1分30秒
	// 1 minute 30 seconds
}
