package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"muster/discovery"
	"muster/internal/game"
	"muster/internal/hint"
	"muster/internal/option"
	"muster/internal/sim"
	"muster/internal/sim/fleet"
	"muster/internal/term"
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
	world := sim.Generate(spec)
	options := fleet.Playing(g, world)
	options.Port, options.MasterPort, options.Gap, options.Logger = f.port, f.masterPort, f.gap, f.logger()
	running, err := fleet.Start(ctx, options)
	if err != nil {
		return hint.With(err, "choose other ports with --port and --master-port")
	}
	defer running.Close()
	if err := f.writeServers(running); err != nil {
		return err
	}
	f.tell(running, world, g)
	<-ctx.Done()
	return nil
}

func (f *fleetCommand) writeServers(running *fleet.Fleet) error {
	if f.write == "" {
		return nil
	}
	return writeFile(f.write, running.WriteServers)
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

// tell prints what answers where, and how to look at it. A game without masters needs a list.
func (f *fleetCommand) tell(running *fleet.Fleet, world *sim.World, g game.Game) {
	servers := running.Servers()
	master, from := "", "--servers "+cmp.Or(f.write, "FILE")
	if _, err := g.Queries(running.Master().String()); err == nil {
		master, from = fmt.Sprintf("; master at %v", running.Master()), fmt.Sprintf("--master %v", running.Master())
	}
	fmt.Fprintf(f.out, "%s, the first at %v%s\n\n", term.Count(len(servers), g.Name+" server"), servers[0].Addr, master)
	t := term.Table{Columns: []term.Column{term.Left("PLACE"), term.Whole("ASK FROM")}}
	for i, place := range world.Places {
		t.Add(place.Name, running.Source(i))
	}
	t.Write(f.out)
	fmt.Fprintf(f.out, "\ntry   muster discover --game %s %s --listen-addr %v\n", g.ID, from, running.Source(0))
	if master == "" && f.write == "" {
		fmt.Fprintf(f.out, "no master lists %s: start the fleet with --write FILE\n", g.Name)
	}
	f.screen.Say("answering; Ctrl-C ends it")
}
