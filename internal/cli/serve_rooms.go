package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"muster/host/operating"
	"muster/internal/operator"
	"muster/internal/option"
	"muster/internal/publichost"
)

// operated is a command for the operator of a public host that runs on this machine.
type operated struct {
	serving
	keyFile string
	asJSON  bool
}

func newServeRooms(p *program) *cobra.Command {
	list := operatorCommand(p, &cobra.Command{
		Use:   "rooms",
		Short: "The rooms of a running public host: list, explain, close and move them",
		Long: `Rooms lists the rooms of the public host that runs on this machine, and of all hosts
that share its NATS. A room has its public id, which is in the log, too. It shows no
code, name or address of anybody.

It finds the host by the settings of muster serve, from flags, environment and
config.toml, and shows the host's own key, so run it as the user who runs the host.
The host logs what it was asked, by whose key. docs/serve/run.md says more.`,
		Example: `  muster serve rooms
  muster serve rooms explain 3BF7A1QKXWZ2M5NC
  muster serve rooms close 3BF7A1QKXWZ2M5NC --reason maintenance
  muster serve rooms move 3BF7A1QKXWZ2M5NC --to host2`,
		Args: cobra.NoArgs,
	}, func(o *operated) error {
		return answer(o, operator.Client.Rooms, func(found operating.Listing) { operator.ShowRooms(o.out, found, time.Now()) })
	})
	explain := operatorCommand(p, &cobra.Command{
		Use: "explain ID", Short: "Why a room is where it is", Args: cobra.ExactArgs(1),
	}, func(o *operated) error {
		return answer(o, func(c operator.Client, ctx context.Context) (operating.Explained, error) {
			return c.Explain(ctx, o.command.Flags().Arg(0))
		}, func(found operating.Explained) { operator.ShowRoom(o.out, found, time.Now()) })
	})
	list.AddCommand(explain, newCloseRoom(p), newMoveRoom(p))
	return list
}

func newCloseRoom(p *program) *cobra.Command {
	var reason string
	cmd := operatorCommand(p, &cobra.Command{
		Use: "close ID --reason WORD", Short: "End a room for good, and tell its people why", Args: cobra.ExactArgs(1),
	}, func(o *operated) error {
		if operating.Closing(reason) == nil {
			return usagef("%w", operating.ErrReason)
		}
		return answer(o, func(c operator.Client, ctx context.Context) (operating.Done, error) {
			return c.Close(ctx, o.command.Flags().Arg(0), reason)
		}, o.tell)
	})
	cmd.Flags().StringVar(&reason, "reason", "", "why, as its people read it: `WORD`, one of "+strings.Join(operating.Reasons(), ", "))
	option.Complete(cmd, "reason", operating.Reasons())
	return cmd
}

func newMoveRoom(p *program) *cobra.Command {
	var to string
	cmd := operatorCommand(p, &cobra.Command{
		Use: "move ID --to HOST", Short: "Give a room to another host of the cluster", Args: cobra.ExactArgs(1),
	}, func(o *operated) error {
		if to == "" {
			return usagef("say which host gets the room: --to HOST")
		}
		return answer(o, func(c operator.Client, ctx context.Context) (operating.Done, error) {
			return c.Move(ctx, o.command.Flags().Arg(0), to)
		}, o.tell)
	})
	cmd.Flags().StringVar(&to, "to", "", "the other `HOST`, by its --node")
	return cmd
}

func newServeLimits(p *program) *cobra.Command {
	return operatorCommand(p, &cobra.Command{
		Use:   "limits",
		Short: "Which networks have lately run into the limits of a running public host",
		Long: `Limits lists the networks (/24, IPv6: /48) from which somebody has run into a limit for
strangers within the last hour. The host keeps that in memory alone. See muster serve
rooms for how the command finds the host.`,
		Args: cobra.NoArgs,
	}, func(o *operated) error {
		return answer(o, operator.Client.Limits, func(found operating.Limits) { operator.ShowLimits(o.out, found, time.Now()) })
	})
}

// operatorCommand adds the flags by which the command finds the host, and what it does.
func operatorCommand(p *program, cmd *cobra.Command, do func(*operated) error) *cobra.Command {
	o := &operated{serving: serving{program: p, command: cmd}}
	cmd.RunE = func(*cobra.Command, []string) error { return do(o) }
	flags := cmd.Flags()
	flags.StringVar(&o.Store, "store", "", "the `FILE` of the host's rooms (default: rooms.db in the state folder)")
	flags.StringVar(&o.Cluster.URL, "nats", "", "the `URL` of NATS, if the host keeps its rooms there")
	flags.StringVar(&o.Cluster.Node, "node", "", "this host's `NAME` among those that share NATS (default: the machine's)")
	flags.StringVar(&o.keyFile, "key-file", "", "show the key in `FILE`, a line NAME KEY that the host's file of keys has, "+
		"too (default: the host's own)")
	flags.BoolVar(&o.asJSON, "json", false, "print it as JSON")
	return cmd
}

// answer asks the host, and shows what it answers.
func answer[T any](o *operated, ask func(operator.Client, context.Context) (T, error), show func(T)) error {
	at, key, err := o.Operator(o.keyFile)
	if err != nil {
		return err
	}
	found, err := ask(operator.Client{At: at, Key: key}, o.command.Context())
	if err != nil {
		return err
	}
	if o.asJSON {
		return json.NewEncoder(o.out).Encode(found)
	}
	show(found)
	return nil
}

func (o *operated) tell(done operating.Done) { fmt.Fprintln(o.out, "The room is "+done.Outcome+".") }

// servedMemory is the command that shows and deletes a public host's memory of networks.
type servedMemory struct {
	serving
	forget, asJSON bool
}

func newServeMemory(p *program) *cobra.Command {
	m := &servedMemory{serving: serving{program: p}}
	cmd := &cobra.Command{
		Use:   "memory",
		Short: "What a public host has learnt of the distances between networks",
		Long: `Memory shows how much a public host has learnt from its rooms: how far countries,
networks (AS) and blocks of addresses (/16) of game servers are from the countries
and networks of players. It has no address, no name and no room.
docs/serve/run.md says more.

It looks where muster serve keeps its rooms, by the same flags, environment and
config.toml. The host may be running. It forgets what --delete deletes within a
minute, and learns again from the next hour on; --memory=false of muster serve keeps
it from learning.`,
		Example: `  muster serve memory
  muster serve memory --json --store /var/lib/muster/rooms.db
  muster serve memory --delete`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return m.run(cmd.Context()) },
	}
	flags := cmd.Flags()
	m.bindStore(flags)
	flags.BoolVar(&m.asJSON, "json", false, "print it as JSON")
	flags.BoolVar(&m.forget, "delete", false, "delete all of it, on all hosts that share it")
	return cmd
}

func (m *servedMemory) run(ctx context.Context) error {
	if m.Cluster.URL != "" && m.Store != "" {
		return usagef("--store and --nats are two places: say one of them")
	}
	found, err := publichost.Memory(ctx, &m.Settings, m.forget, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	if m.asJSON {
		return json.NewEncoder(m.out).Encode(found.Document(m.forget))
	}
	fmt.Fprintln(m.out, found.Describe(m.forget))
	return nil
}
