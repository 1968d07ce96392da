package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"

	"muster/discovery"
	"muster/discovery/prober"
	"muster/internal/game"
	"muster/internal/hint"
	"muster/internal/userfile"
)

const (
	// probeTries is how often each UDP question goes out.
	probeTries = 2
	// probeMore is how many packets a protocol that answers may get besides: challenges sent back, the question once
	// more if the server has told nothing, and a farewell.
	probeMore = 12
	// probePause lies between two protocols: many servers answer an address only ten times at once.
	probePause = 100 * time.Millisecond
	// probeWait is the silence after the last question that counts as no answer.
	probeWait = 700 * time.Millisecond
	// probeRest is how long a server is left alone that answered, and told nothing of itself.
	probeRest = 1200 * time.Millisecond
)

// probe asks one address by every protocol, and prints the entry of its game or adds it to a file.
func (p *program) probe(ctx context.Context, games game.Table, address, id, file string) error {
	if id != "" {
		if err := game.CheckID(id); err != nil {
			return usageError(err)
		}
	}
	at, err := probed(ctx, address)
	if err != nil {
		return err
	}
	ways := games.Ways(at.Port())
	q := game.Count(ways, at.Port(), probeTries)
	p.screen.Tell("probe.asks", "address", at.Addr(), "protocols", q.Protocols, "packets", q.Packets, "connections", q.Connections,
		"more", probeMore, "ports", q.Ports)
	answers, err := p.askWays(ctx, ways, at)
	if err != nil {
		return err
	}
	best, is := game.Best(answers)
	if !is {
		return nothing{hint.Say("probe.silent", "address", at).Advising("probe.silent-hint")}
	}
	p.tellAnswers(games, answers, best)
	if id == "" {
		id = game.NewID(best)
	}
	remark := fmt.Sprintf("%s: %v answered %s", time.Now().Format(time.DateOnly), at, best.Way.Protocol)
	if best.Info != nil && best.Info.Name != "" {
		remark += " as " + best.Info.Name
	}
	entry := game.EntryOf(id, best, at.Port(), remark)
	if file == "" {
		_, err = io.WriteString(p.out, entry)
		return err
	}
	if err := addEntry(file, id, entry); err != nil {
		return err
	}
	p.screen.Tell("probe.written", "file", file)
	return nil
}

// probed returns the only address that is asked.
func probed(ctx context.Context, text string) (netip.AddrPort, error) {
	host, portText, err := net.SplitHostPort(text)
	port, bad := strconv.ParseUint(portText, 10, 16)
	if err != nil || bad != nil || port == 0 || host == "" {
		return netip.AddrPort{}, usageError(hint.Say("probe.port", "address", discovery.CleanText(text)).
			Advising("probe.port-hint", "example", "192.0.2.1:27015"))
	}
	found, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil || len(found) == 0 {
		return netip.AddrPort{}, hint.Say("probe.no-host", "host", discovery.CleanText(host), "why", hint.Reason(err))
	}
	slices.SortStableFunc(found, func(a, b netip.Addr) int { return a.Unmap().BitLen() - b.Unmap().BitLen() }) // IPv4 first
	return netip.AddrPortFrom(found[0].Unmap(), uint16(port)), nil
}

// askWays asks an address in every way until a server has told its name, and returns the answers in the order of the ways.
func (p *program) askWays(ctx context.Context, ways []game.Way, at netip.AddrPort) ([]game.Answer, error) {
	var (
		all       sync.WaitGroup
		allowance = prober.NewAllowance()
		found     = make([]*game.Answer, len(ways))
		failed    = make([]error, len(ways))
	)
	asking, enough := context.WithCancel(ctx)
	defer enough()
	for i, way := range ways {
		all.Go(func() {
			found[i], failed[i] = p.askWay(asking, way, at, allowance)
			if found[i].IsNamed() {
				enough()
			}
		})
		select {
		case <-time.After(probePause):
		case <-asking.Done():
		}
		if asking.Err() != nil {
			break
		}
	}
	all.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var answers []game.Answer
	for _, a := range found {
		if a != nil {
			answers = append(answers, *a)
		}
	}
	if len(answers) == 0 {
		return nil, errors.Join(failed...) // nil if all were silent
	}
	return answers, nil
}

// askWay asks an address in one way. The answer is nil if there is none. A server that answers too much at a time tells
// nothing of itself, and is asked once more.
func (p *program) askWay(ctx context.Context, way game.Way, at netip.AddrPort, allowance *prober.Allowance) (*game.Answer, error) {
	options := prober.Options{
		Protocol: way.Game().Protocol(), Retries: probeTries - 1, Timeout: probeWait, Allowance: allowance, Logger: p.logger(),
	}
	server := discovery.Server{Addr: netip.AddrPortFrom(at.Addr(), way.Port(at.Port()))}
	answer, err := askOne(ctx, options, server)
	if answer == nil || answer.Info != nil {
		return answer.In(way), err
	}
	select {
	case <-time.After(probeRest):
	case <-ctx.Done():
		return answer.In(way), nil
	}
	options.Retries = -1
	if again, err := askOne(ctx, options, server); again != nil && err == nil {
		answer = again
	}
	return answer.In(way), nil
}

// askOne asks a server, and returns what it answered, or nil.
func askOne(ctx context.Context, options prober.Options, server discovery.Server) (answer *game.Answer, err error) {
	engine, err := prober.New(options)
	if err != nil {
		return nil, err
	}
	defer engine.Close()
	err = engine.Run(ctx, []discovery.Server{server}, discovery.NewConventional(1), func(r discovery.Result) {
		if r.State == discovery.Answered {
			answer = &game.Answer{Info: r.Info}
		}
	})
	return answer, err
}

// tellAnswers says what answered, and which known games that may be.
func (p *program) tellAnswers(games game.Table, answers []game.Answer, best game.Answer) {
	var names []string
	for _, a := range answers {
		if !slices.Contains(names, a.Way.Protocol) {
			names = append(names, a.Way.Protocol)
		}
	}
	p.screen.Tell("probe.answers", "protocols", names)
	if best.Info != nil && best.Info.Name != "" {
		p.screen.Tell("probe.named", "server", discovery.CleanText(best.Info.Name))
	}
	if known := games.Known(best); len(known) > 0 {
		p.screen.Tell("probe.known", "games", game.Named(known))
	}
}

// addEntry adds an entry to a table of games in a file, which may not be there yet.
func addEntry(file, id, entry string) error {
	old, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	text, err := game.Append(string(old), id, entry, file)
	if err != nil {
		return err
	}
	return userfile.Replace(file, []byte(text))
}
