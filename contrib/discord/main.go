// Muster-discord opens and shows rooms of a public host of Muster in Discord. It answers Discord's signed requests, and
// asks the host by its HTTP API, as any other program does. It also keeps cards up to date while Discord allows it.
//
//	Discord ─ POST /discord ─▶ handler ─ POST /api/rooms, GET /api/rooms/- ─▶ a public host
//	   ▲                          │
//	   └── PATCH the card ────────┘ for 15 minutes after each command or press
//
// There is no connection to Discord's gateway, and only register needs the bot's token. README.md leads through all of
// it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"muster-discord/internal/discord"
)

const usage = `muster-discord opens rooms of Muster from Discord. README.md says how to set it up.

  muster-discord --config FILE [--listen ADDRESS] [--host URL]
  muster-discord register --config FILE --token-file FILE [--guild ID]

`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "muster-discord:", err)
		os.Exit(1)
	}
}

// run runs the program by its arguments.
func run(ctx context.Context, args []string, out, log io.Writer) error {
	registers := len(args) > 0 && args[0] == "register"
	if registers {
		args = args[1:]
	}
	flags := flag.NewFlagSet("muster-discord", flag.ContinueOnError)
	flags.SetOutput(log)
	flags.Usage = func() { fmt.Fprint(log, usage); flags.PrintDefaults() }
	file := flags.String("config", "", "the `FILE` that names the host, and your application at Discord")
	at := flags.String("host", "", "where people reach the host of Muster, in place of the file's: `URL`")
	listen := flags.String("listen", "127.0.0.1:7778", "the `ADDRESS` where Discord's requests arrive, by a proxy that encrypts")
	verbose := flags.Bool("v", false, "log more")
	token := flags.String("token-file", "", "register: the `FILE` with the bot's token; or set MUSTER_DISCORD_TOKEN")
	guild := flags.String("guild", "", "register: only in the server with this `ID`, where the command appears at once")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("there is no %q: say register, or only flags", flags.Arg(0))
	}
	c, err := configured(*file, *at)
	if err != nil {
		return err
	}
	if registers {
		return registered(ctx, c, *token, *guild, out)
	}
	level := slog.LevelInfo
	if *verbose {
		level = slog.LevelDebug
	}
	return serve(ctx, c, *listen, slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: level})))
}

// configured reads the program's file. at is the host in place of the file's, if it is not empty.
func configured(name, at string) (c discord.Config, err error) {
	if name == "" {
		return c, errors.New("say which file: --config FILE")
	}
	file, err := os.Open(name)
	if err != nil {
		return c, err
	}
	defer file.Close()
	if c, err = discord.ReadConfig(file); err != nil {
		return c, fmt.Errorf("%s: %w", name, err)
	}
	if at != "" {
		if c.Host, err = discord.ParseHost(at); err != nil {
			return c, err
		}
	}
	if c.Host == nil {
		return c, fmt.Errorf("%s: there is no line with host, such as host https://muster.example", name)
	}
	return c, nil
}

// registered tells Discord of the command. The bot's token is in a file, or in the environment.
func registered(ctx context.Context, c discord.Config, file, guild string, out io.Writer) error {
	token := os.Getenv("MUSTER_DISCORD_TOKEN")
	if file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		token = string(text)
	}
	if token = strings.TrimSpace(token); token == "" {
		return errors.New("there is no token: say --token-file FILE, or set MUSTER_DISCORD_TOKEN")
	}
	service, err := host{c.Host, c.Key}.describe(ctx, "")
	if err != nil {
		return fmt.Errorf("cannot ask the host: %w", err)
	}
	if err := register(ctx, c, token, guild, service.MaxPlayers); err != nil {
		return err
	}
	fmt.Fprintln(out, "Discord has the command /muster. In a server it may take people a restart of Discord to see it.")
	return nil
}

// readWithin bounds how long a request may take to arrive.
const readWithin = 10 * time.Second

// serve answers Discord until ctx ends.
func serve(ctx context.Context, c discord.Config, at string, log *slog.Logger) error {
	listener, err := net.Listen("tcp", at)
	if err != nil {
		return err
	}
	h := newHandler(c, log)
	defer h.finish()
	mux := http.NewServeMux()
	mux.Handle("POST /discord", h)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	server := &http.Server{Handler: mux, ReadTimeout: readWithin, MaxHeaderBytes: 16 << 10}
	defer context.AfterFunc(ctx, func() { server.Close() })()
	log.Info("answering Discord", "at", listener.Addr(), "rooms", c.Host)
	if err := server.Serve(listener); ctx.Err() == nil {
		return err
	}
	return nil
}
