package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"muster/discovery"
	"muster/internal/hint"
	"muster/internal/option"
	"muster/internal/sim"
	"muster/internal/sim/fleet"
)

// fleetCommand is the command that runs a loopback internet.
type fleetCommand struct {
	*program
	game       string
	world      string
	servers    int
	seed       uint64
	port       uint16
	masterPort uint16
	write      string
	gap        time.Duration
}

func newFleet(p *program) *cobra.Command {
	f := &fleetCommand{program: p}
	cmd := &cobra.Command{
		GroupID: toTry,
		Use:     "fleet",
		Short:   "A loopback internet of game servers and a master, to test against",
		Long: `Fleet answers on this machine's loopback addresses as any number of game
servers do, each after its own round-trip time, and runs a master that lists
them. Where you ask from says where you sit: each place has a source address.`,
		Example: `  muster fleet --servers 2000
  muster discover --game quake3 --master 127.0.0.1:27950 --listen-addr 127.200.0.1`,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.game, "game", "quake3", "the game its servers play, by `ID`")
	option.Word(cmd, &f.world, "world", "night2005", []string{"night2005", "et2007", "css2007"}, "the internet")
	flags.IntVar(&f.servers, "servers", 0, "`N` servers (default: as many as the world has)")
	flags.Uint64Var(&f.seed, "seed", 1, "the same `SEED` gives the same internet")
	flags.Uint16Var(&f.port, "port", 0, "first `PORT` of the servers (default: any free)")
	flags.Uint16Var(&f.masterPort, "master-port", 27950, "`PORT` of the master; 0 is any free")
	flags.DurationVar(&f.gap, "gap", 0, "each server answers an address once in this `TIME`, as Xonotic's do: 1s")
	flags.StringVar(&f.write, "write", "", "write the servers to this `FILE` (CSV: addr,country,asn)")
	return cmd
}

func (f *fleetCommand) run(ctx context.Context) error {
	g, err := f.findGame(f.game)
	if err != nil {
		return err
	}
	spec, err := sim.NamedSpec(f.world, f.seed)
	if err != nil {
		return usageError(err)
	}
	if f.servers != 0 {
		spec.Servers = f.servers
	}
	if spec.Servers < 1 || spec.Servers > discovery.MaxServers {
		return usagef("--servers %d: a fleet has 1 to %d", f.servers, discovery.MaxServers)
	}
	options := fleet.Playing(g, sim.Generate(spec))
	options.Port, options.MasterPort, options.Gap, options.Logger = f.port, f.masterPort, f.gap, f.logger()
	running, err := fleet.Start(ctx, options)
	if err != nil {
		return hint.With(err, "choose other ports with --port and --master-port")
	}
	defer running.Close()
	if f.write != "" {
		if err := writeFile(f.write, running.WriteServers); err != nil {
			return err
		}
	}
	running.Describe(f.out, g, f.write)
	f.screen.Say("answering; Ctrl-C ends it")
	<-ctx.Done()
	return nil
}

// writeFile creates a file and writes it.
func writeFile(name string, write func(io.Writer) error) error {
	file, err := os.Create(name)
	if err == nil {
		err = errors.Join(write(file), file.Close())
	}
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", name, hint.Reason(err))
	}
	return nil
}
