package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"muster/host/operating"
	"muster/internal/operator"
	"muster/internal/option"
)

// operated is a command for the operator of a public host that runs on this machine.
type operated struct {
	serving
	keyFile, reason, to string
	asJSON              bool
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
The host logs what it was asked, by whose key. docs/serve.md says more.`,
		Example: `  muster serve rooms
  muster serve rooms explain 3BF7A1QKXWZ2M5NC
  muster serve rooms close 3BF7A1QKXWZ2M5NC --reason maintenance
  muster serve rooms move 3BF7A1QKXWZ2M5NC --to host2`,
		Args: cobra.NoArgs,
	}, func(o *operated) error {
		return answer(o, func(ctx context.Context, c operator.Client) (operating.Listing, error) { return c.Rooms(ctx) },
			func(found operating.Listing) { operator.ShowRooms(o.out, found, time.Now()) })
	})
	explain := operatorCommand(p, &cobra.Command{Use: "explain ID", Short: "Why a room is where it is", Args: cobra.ExactArgs(1)},
		func(o *operated) error {
			return answer(o, func(ctx context.Context, c operator.Client) (operating.Explained, error) {
				return c.Explain(ctx, o.command.Flags().Arg(0))
			}, func(found operating.Explained) { operator.ShowRoom(o.out, found, time.Now()) })
		})
	shut := operatorCommand(p, &cobra.Command{Use: "close ID --reason WORD", Short: "End a room for good, and tell its people why", Args: cobra.ExactArgs(1)},
		func(o *operated) error {
			if operating.Closing(o.reason) == nil {
				return usagef("%w", operating.ErrReason)
			}
			return answer(o, func(ctx context.Context, c operator.Client) (operating.Done, error) {
				return c.Close(ctx, o.command.Flags().Arg(0), o.reason)
			}, o.tell)
		})
	option.Complete(shut, "reason", operating.Reasons())
	move := operatorCommand(p, &cobra.Command{Use: "move ID --to HOST", Short: "Give a room to another host of the cluster", Args: cobra.ExactArgs(1)},
		func(o *operated) error {
			if o.to == "" {
				return usagef("say which host gets the room: --to HOST")
			}
			return answer(o, func(ctx context.Context, c operator.Client) (operating.Done, error) {
				return c.Move(ctx, o.command.Flags().Arg(0), o.to)
			}, o.tell)
		})
	list.AddCommand(explain, shut, move)
	return list
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
		return answer(o, func(ctx context.Context, c operator.Client) (operating.Limits, error) { return c.Limits(ctx) },
			func(found operating.Limits) { operator.ShowLimits(o.out, found, time.Now()) })
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
	flags.StringVar(&o.keyFile, "key-file", "", "show the key in `FILE`, a line NAME KEY that the host's file of keys has, too (default: the host's own)")
	flags.BoolVar(&o.asJSON, "json", false, "print it as JSON")
	if strings.HasPrefix(cmd.Use, "close") {
		flags.StringVar(&o.reason, "reason", "", "why, as its people read it: `WORD`, one of "+strings.Join(operating.Reasons(), ", "))
	}
	if strings.HasPrefix(cmd.Use, "move") {
		flags.StringVar(&o.to, "to", "", "the other `HOST`, by its --node")
	}
	return cmd
}

// answer asks the host, and shows what it answers.
func answer[T any](o *operated, ask func(context.Context, operator.Client) (T, error), show func(T)) error {
	at, key, err := o.Operator(o.keyFile)
	if err != nil {
		return err
	}
	found, err := ask(o.command.Context(), operator.Client{At: at, Key: key})
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
