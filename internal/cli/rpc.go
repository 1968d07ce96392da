package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"muster/discovery/prober"
	"muster/internal/home"
	"muster/internal/lobby"
	"muster/internal/release"
	"muster/internal/rpc"
)

func newRPC(p *program) *cobra.Command {
	describe := false
	cmd := &cobra.Command{
		Use:   "rpc",
		Short: "Serve a launcher: JSON-RPC 2.0 over standard input and output",
		Long: `RPC lets a launcher that ships Muster beside itself find servers, open rooms and
play in them. It reads JSON-RPC 2.0 from standard input, one message a line
without headers, and writes nothing else to standard output. It logs to standard
error, and ends with its input. It starts no game unless the launcher says so.`,
		Example: `  muster rpc --describe     (what there is, as an OpenRPC document)
  echo '{"jsonrpc":"2.0","id":1,"method":"hello"}' | muster rpc`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if describe {
				return rpc.Describe(p.out, release.Running().Version)
			}
			return p.serveLauncher(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&describe, "describe", false, "print the methods as an OpenRPC document, and end")
	return cmd
}

// serveLauncher answers a launcher until it ends.
func (p *program) serveLauncher(ctx context.Context) error {
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE) // else the first line after the launcher's end would end the rooms uncleanly
	defer signal.Stop(broken)
	level := slog.LevelInfo
	if p.verbose {
		level = slog.LevelDebug
	}
	log, end := rpc.NewLog(p.screen.Writer, level)
	defer end()
	allowance := prober.NewAllowance() // for everything that the launcher asks
	err := rpc.Serve(ctx, rpc.Config{
		In: p.in, Out: p.out.Writer, Version: release.Running().Version, Language: p.screen.Language.Tag(), Logger: log,
		Command: func(ctx context.Context, args []string, out io.Writer, t home.Terminal, front *lobby.Front) error {
			inner := p.inside(&t, out, allowance)
			inner.front, inner.log = front, log
			root := newRoot(inner)
			root.SetArgs(args)
			root.SetOut(io.Discard)
			root.SetErr(io.Discard)
			return root.ExecuteContext(ctx)
		},
	})
	if err != nil {
		return fmt.Errorf("the launcher reads no more: %w", err)
	}
	return nil
}

// inside returns a program that runs inside this one, at the terminal of a page or of a launcher. It
// prints results to out.
func (p *program) inside(t *home.Terminal, out io.Writer, allowance *prober.Allowance) *program {
	inner := newProgram(Streams{In: t.In, Out: out, Err: t.Out}, p.env)
	inner.home, inner.allowance, inner.verbose = t, allowance, p.verbose
	return inner
}
