package wire_test

import (
	"errors"
	"fmt"
	"time"

	"muster/discovery"
	"muster/host/wire"
)

// A message becomes a frame, JSON here, and is read again.
func ExampleMarshal() {
	frame, err := wire.Marshal(wire.Hello{Version: wire.Version, Code: "TABOMI", Name: "ann"})
	if err != nil {
		fmt.Println(err)
	}
	fmt.Printf("%s\n", frame.Data)

	message, err := wire.Unmarshal(frame)
	if err != nil {
		fmt.Println(err)
	}
	if hello, is := message.(wire.Hello); is {
		fmt.Println(hello.Name)
	}
	// Output:
	// {"type":"hello","version":2,"code":"TABOMI","name":"ann"}
	// ann
}

// Frames come from strangers. A reader skips messages that only a later version knows.
func ExampleUnmarshal() {
	for _, text := range []string{`{"type":"launched","state":"launched"}`, `{"type":"sing"}`, `{"type":"hello"`} {
		message, err := wire.Unmarshal(wire.Frame{Data: []byte(text)})
		switch {
		case errors.Is(err, wire.ErrUnknown):
			fmt.Println("skipped")
		case errors.Is(err, wire.ErrMalformed):
			fmt.Println("the end of this connection")
		default:
			fmt.Printf("%T\n", message)
		}
	}
	// Output:
	// wire.Launched
	// skipped
	// the end of this connection
}

// Measurements travel in binary frames.
func ExampleReport() {
	frame, err := wire.Marshal(wire.Report{Results: []discovery.Result{
		{Server: 7, State: discovery.Answered, RTT: 12300 * time.Microsecond}, {Server: 9, State: discovery.Lost}}})
	if err != nil {
		fmt.Println(err)
	}
	message, err := wire.Unmarshal(frame)
	if err != nil {
		fmt.Println(err)
	}
	for _, result := range message.(wire.Report).Results {
		fmt.Println(result.Server, result.State, result.RTT)
	}
	fmt.Println(frame.Binary, len(frame.Data), "bytes")
	// Output:
	// 7 answered 12.3ms
	// 9 lost 0s
	// true 12 bytes
}
