// Muster finds the game server that is best for a whole group of players and
// takes everyone there.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"muster/internal/cli"
)

func main() {
	cobra.MousetrapHelpText = "" // a double click opens Home, and its window stays as long as that runs
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program whatever it does
	code := cli.Run(ctx, os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
	stop()
	os.Exit(code)
}
