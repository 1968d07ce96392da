// Package webhook posts a room's announcements where its group talks: in Discord's form to Discord, unchanged
// elsewhere.
//
//	room ── Post ──▶ of each kind the newest waits ──▶ one POST at a time ──▶ told
//	                                                    │        ▲
//	                                                    └ again ─┘ a few times, later and later
//
// Nobody waits for it. A webhook may hang, redirect, or answer with gigabytes. A stranger may have chosen it, so this
// machine does not connect to private networks for it. Each webhook costs a few connections an hour and a few
// kilobytes, and leads to a sentence that tells the organiser what to do.
package webhook

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"muster/discovery"
	"muster/host/wire"
	"muster/internal/netinfo"
)

const (
	// tryTime bounds one POST, and answerBytes what is read of its answer.
	tryTime     = 10 * time.Second
	answerBytes = 4 << 10
	// headerBytes bounds the answer's header.
	headerBytes = 16 << 10
	// longestPause is the longest pause that a service may ask for. After that, the news is old.
	longestPause = 2 * time.Minute
	// roomPosts bounds a room's POSTs in an hour, and openerPosts those of all rooms that one network has opened:
	// enough for a session of rounds, too few for a flood.
	roomPosts, openerPosts = 30, 90
	// atOnce bounds a host's concurrent POSTs.
	atOnce = 64
	// sweepEvery is how often the program forgets rooms and openers that have not posted for an
	// hour.
	sweepEvery = 10 * time.Minute
)

// pauses come before the second and later tries.
var pauses = [...]time.Duration{2 * time.Second, 10 * time.Second, 45 * time.Second}

// League is somebody whom the operator knows. Only this league's rooms post to its webhook.
type League struct {
	Name, Webhook string
	// Sign returns the value of the signature's header for a body that is posted at a time.
	Sign func(at time.Time, body []byte) string
}

// signature is the header by which a league knows posts of its own rooms.
const signature = "Muster-Signature"

// Poster posts for the rooms of a host. Its zero value posts to strangers' webhooks.
type Poster struct {
	// Own are the webhooks of this program's operator. Webhooks of the operator and of leagues may
	// be on this machine or in a private network. All others count as strangers'.
	Own []string
	// Leagues returns the leagues; nil is none.
	Leagues func() []League

	once      sync.Once
	ctx       context.Context
	cancel    context.CancelFunc
	strangers http.RoundTripper // replaced by tests
	owner     http.RoundTripper
	try       time.Duration
	places    chan struct{}
	work      sync.WaitGroup

	mu     sync.Mutex // guards the fields below
	closed bool
	rooms  map[string]*queue
	posted map[string][]time.Time // in the last hour, by room and by opener
	swept  time.Time
}

// Post is an announcement and its destination.
type Post struct {
	// Room identifies the room, and Opener the network that opened it, if known.
	Room   string
	Opener netip.Addr
	// League is the name of the league whose room it is, empty for people's rooms.
	League string
	// URL is the webhook's; see [wire.CheckWebhook].
	URL          string
	Announcement wire.Announcement
	// Told hears the outcome once, in another goroutine, unless a newer post of the room replaces this one. An error is
	// a sentence for everybody in the room, without the URL.
	Told func(error)
}

// queue is what a room has to post: the newest of each kind, all by the most recent webhook.
type queue struct {
	waiting []Post
	// url is where the running post goes. giveUp cancels the post.
	url    string
	giveUp context.CancelFunc
}

// dropOthers drops posts for another webhook, because the organiser has replaced it.
func (q *queue) dropOthers(url string) {
	q.waiting = slices.DeleteFunc(q.waiting, func(post Post) bool { return post.URL != url })
	if q.giveUp != nil && q.url != url {
		q.giveUp()
	}
}

func (p *Poster) begin() {
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.rooms, p.posted, p.places = map[string]*queue{}, map[string][]time.Time{}, make(chan struct{}, atOnce)
	p.try = cmp.Or(p.try, tryTime)
	if p.strangers == nil {
		p.strangers, p.owner = transport(true), transport(false)
	}
}

// Post posts an announcement after the room's earlier ones. It does not block.
func (p *Poster) Post(post Post) {
	p.once.Do(p.begin)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	q := p.rooms[post.Room]
	if q == nil {
		q = &queue{}
		p.rooms[post.Room] = q
		p.work.Go(func() { p.run(post.Room, q) })
	}
	q.dropOthers(post.URL)
	for i := range q.waiting {
		if q.waiting[i].Announcement.Kind == post.Announcement.Kind {
			q.waiting[i] = post
			return
		}
	}
	q.waiting = append(q.waiting, post)
}

// Close cancels the running posts and waits for them.
func (p *Poster) Close() {
	p.once.Do(p.begin)
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.cancel()
	p.work.Wait()
}

// run posts a room's announcements until none is left.
func (p *Poster) run(room string, q *queue) {
	for {
		p.mu.Lock()
		if len(q.waiting) == 0 || p.closed {
			delete(p.rooms, room)
			p.mu.Unlock()
			return
		}
		post := q.waiting[0]
		q.waiting = q.waiting[1:]
		ctx, cancel := context.WithCancel(p.ctx)
		q.url, q.giveUp = post.URL, cancel
		p.mu.Unlock()
		if err := p.post(ctx, post); ctx.Err() == nil {
			post.Told(err)
		}
		cancel()
	}
}

// post tries a few times.
func (p *Poster) post(ctx context.Context, post Post) error {
	to := "webhook"
	if wire.IsDiscord(post.URL) {
		to = "discord"
	}
	league, isOthers := p.leagueOf(post)
	if isOthers {
		return wire.Refuse(wire.ReasonAction, "post.league")
	}
	isOwn := league != nil || slices.Contains(p.Own, post.URL)
	if wire.CheckWebhook(post.URL) != nil || !isOwn && !strings.HasPrefix(strings.TrimPrefix(post.URL, wire.PlainWebhook), "https:") {
		return wire.Refuse(wire.ReasonAction, "post.no-https", "to", to)
	}
	body, err := bodyOf(post)
	if err != nil {
		return err
	}
	for again := 0; ; again++ {
		if !p.mayPost(post) {
			return wire.Refuse(wire.ReasonAction, "post.often", "n", roomPosts)
		}
		var failure *failure
		if err := p.send(ctx, post.URL, body, isOwn, league); err == nil || !errors.As(err, &failure) {
			return err
		}
		pause := failure.pause
		if again < len(pauses) {
			pause = max(pause, pauses[again])
		}
		if failure.isFinal || again == len(pauses) || pause > longestPause {
			return failure.about(to)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// leagueOf returns the league to whose webhook its own room posts, nil for another webhook. It reports whether the
// webhook is that of a league whose room it is not.
func (p *Poster) leagueOf(post Post) (league *League, isOthers bool) {
	if p.Leagues == nil {
		return nil, false
	}
	for _, l := range p.Leagues() {
		switch {
		case l.Name == post.League && l.Webhook == post.URL:
			return &l, false
		case l.Webhook != "" && wire.IsSameWebhook(l.Webhook, post.URL):
			isOthers = true
		}
	}
	return nil, isOthers
}

// mayPost reports whether a room may post once more, and counts the post.
func (p *Poster) mayPost(post Post) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	old := func(times []time.Time) []time.Time {
		for len(times) > 0 && now.Sub(times[0]) >= time.Hour {
			times = times[1:]
		}
		return times
	}
	if now.Sub(p.swept) >= sweepEvery {
		p.swept = now
		for who, times := range p.posted {
			if len(old(times)) == 0 {
				delete(p.posted, who)
			}
		}
	}
	limits := map[string]int{"room " + post.Room: roomPosts}
	if post.Opener.IsValid() {
		limits["opener "+post.Opener.String()] = openerPosts
	}
	for who, most := range limits {
		if p.posted[who] = old(p.posted[who]); len(p.posted[who]) >= most {
			return false
		}
	}
	for who := range limits {
		p.posted[who] = append(p.posted[who], now)
	}
	return true
}

// failure is why a try failed.
type failure struct {
	// key is the key of the sentence about the error. code is the status of an answer, or 0.
	key  string
	code int
	// isFinal says that another try would fail as well. pause is the pause that the service asks for.
	isFinal bool
	pause   time.Duration
}

func (f *failure) Error() string { return f.about("webhook").Error() }

// about returns the failure as people are told it. To is "discord", or "webhook" for another service.
func (f *failure) about(to string) *wire.Refusal {
	return wire.Refuse(wire.ReasonAction, f.key, "to", to, "code", strconv.Itoa(f.code))
}

// send posts once.
func (p *Poster) send(ctx context.Context, hook string, body []byte, isOwn bool, league *League) error {
	select {
	case p.places <- struct{}{}:
		defer func() { <-p.places }()
	case <-ctx.Done():
		return ctx.Err()
	}
	ctx, cancel := context.WithTimeout(ctx, p.try)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimPrefix(hook, wire.PlainWebhook), bytes.NewReader(body))
	if err != nil {
		return &failure{key: "post.no-url", isFinal: true}
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "Muster (game server selector)")
	if league != nil {
		request.Header.Set(signature, league.Sign(time.Now(), body))
	}
	by := p.strangers
	if isOwn {
		by = p.owner
	}
	response, err := by.RoundTrip(request) // follows no redirect
	if err != nil {
		return unreached(err)
	}
	defer response.Body.Close()
	io.CopyN(io.Discard, response.Body, answerBytes) // let a proper answer finish
	return refused(response)
}

// refused explains an answer.
func refused(response *http.Response) error {
	code := response.StatusCode
	switch {
	case code >= 200 && code < 300:
		return nil
	case code >= 300 && code < 400:
		return &failure{key: "post.elsewhere", code: code, isFinal: true}
	case code == http.StatusTooManyRequests:
		return &failure{key: "post.too-often", code: code, pause: retryAfter(response)}
	case code == http.StatusUnauthorized, code == http.StatusForbidden, code == http.StatusNotFound, code == http.StatusGone:
		return &failure{key: "post.refused", code: code, isFinal: true}
	case code >= 500 || code == http.StatusRequestTimeout:
		return &failure{key: "post.trouble", code: code, pause: retryAfter(response)}
	}
	return &failure{key: "post.not-taken", code: code, isFinal: true}
}

// retryAfter returns the pause that a service asks for, 0 if none. Discord gives seconds with a fraction; others may
// give whole seconds or a date.
func retryAfter(response *http.Response) time.Duration {
	text := response.Header.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && seconds > 0 && seconds < time.Hour.Seconds() {
		return time.Duration(seconds * float64(time.Second))
	} else if err == nil && seconds > 0 {
		return time.Hour
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}

// errPrivate is why an address is not dialed.
var errPrivate = errors.New("it leads into a private network")

// unreached says why there was no answer, without the URL or its addresses.
func unreached(err error) error {
	var name *net.DNSError
	var timeout net.Error
	switch {
	case errors.Is(err, errPrivate):
		return &failure{key: "post.private", isFinal: true}
	case errors.As(err, &name) && name.IsNotFound:
		return &failure{key: "post.no-name", isFinal: true}
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return &failure{key: "post.no-answer"}
	}
	return &failure{key: "post.unreached"}
}

// transport connects to a webhook, but to no private network and not to this machine if strangers chose it. It checks the address being dialed,
// so a name that resolves differently the second time gains nothing.
func transport(strangers bool) *http.Transport {
	dialer := &net.Dialer{Timeout: tryTime, Control: func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil || strangers && (discovery.ReachOf(to.Addr().Unmap()) != discovery.InternetReach || netinfo.IsOwn(to.Addr())) {
			return errPrivate
		}
		return nil
	}}
	return &http.Transport{
		DialContext:            dialer.DialContext,
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: headerBytes,
		ForceAttemptHTTP2:      true,
	}
}

// isHTTPS reports whether a link is safe to show where people just click.
func isHTTPS(link string) bool {
	u, err := url.Parse(link)
	return err == nil && u.Scheme == "https" && u.Host != ""
}
