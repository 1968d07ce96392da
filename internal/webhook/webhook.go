// Package webhook posts a room's announcements where its group talks: to Discord in
// Discord's form, to everything else as they are.
//
//	room ── Post ──▶ of each kind the newest waits ──▶ one POST at a time ──▶ told
//	                                                    │        ▲
//	                                                    └ again ─┘ a few times, later and later
//
// Nobody waits for it. A webhook may hang, redirect, answer with gigabytes, or have been
// chosen by a stranger, for whom this machine connects to no private network: each costs a
// few connections an hour and a few kilobytes, and leads to a sentence that tells the
// organiser what to do.
package webhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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
)

const (
	// tryTime is for one POST, and answerBytes is what is read of its answer.
	tryTime     = 10 * time.Second
	answerBytes = 4 << 10
	// headerBytes is what an answer may say before that.
	headerBytes = 16 << 10
	// longestPause is for how long a service may ask to be left alone until what was to be
	// told is no news any more.
	longestPause = 2 * time.Minute
	// roomPosts is how many POSTs a room may come to in an hour, and openerPosts all rooms
	// that one network has opened: an evening of rounds, and nobody's flood.
	roomPosts, openerPosts = 30, 90
	// atOnce is how many POSTs are under way at a host.
	atOnce = 64
	// sweepEvery is how often rooms and openers are forgotten that have not posted for an hour.
	sweepEvery = 10 * time.Minute
)

// pauses are those before the tries after the first one.
var pauses = [...]time.Duration{2 * time.Second, 10 * time.Second, 45 * time.Second}

// Poster posts for the rooms of a host. Its zero value posts where strangers want.
type Poster struct {
	// Own is the webhook that whoever runs this program has given it: it may be on this
	// machine or in a private network. All others are taken for strangers'.
	Own string

	once      sync.Once
	ctx       context.Context
	cancel    context.CancelFunc
	strangers http.RoundTripper // for tests to replace
	owner     http.RoundTripper
	try       time.Duration
	places    chan struct{}
	work      sync.WaitGroup

	mu     sync.Mutex // guards following
	closed bool
	rooms  map[string]*queue
	posted map[string][]time.Time // by room and by who opened it, of the last hour
	swept  time.Time
}

// Post is an announcement, and where it is to go.
type Post struct {
	// Room tells rooms apart, and Opener is the network that opened it, as far as it is
	// known.
	Room   string
	Opener netip.Addr
	// URL is that of the webhook; see [wire.CheckWebhook].
	URL          string
	Announcement wire.Announcement
	// Told hears once what became of it, in another goroutine, unless a newer one of the room
	// takes its place. An error is a sentence for everybody in the room: it does not say the
	// URL.
	Told func(error)
}

// queue is what a room has to post: of each kind the newest, all of it by the webhook that
// was given last.
type queue struct {
	waiting []Post
	// url is that of the post under way, and giveUp ends it.
	url    string
	giveUp context.CancelFunc
}

// by leaves what was for another webhook: the organiser has given this one in its place.
func (q *queue) by(url string) {
	q.waiting = slices.DeleteFunc(q.waiting, func(post Post) bool { return post.URL != url })
	if q.giveUp != nil && q.url != url {
		q.giveUp()
	}
}

func (p *Poster) begin() {
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.rooms, p.posted, p.places = map[string]*queue{}, map[string][]time.Time{}, make(chan struct{}, atOnce)
	if p.try == 0 {
		p.try = tryTime
	}
	if p.strangers == nil {
		p.strangers, p.owner = transport(true), transport(false)
	}
}

// Post posts an announcement as soon as the room's others are: it waits for nothing.
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
	q.by(post.URL)
	for i := range q.waiting {
		if q.waiting[i].Announcement.Kind == post.Announcement.Kind {
			q.waiting[i] = post
			return
		}
	}
	q.waiting = append(q.waiting, post)
}

// Close gives up what is under way, and waits for it.
func (p *Poster) Close() {
	p.once.Do(p.begin)
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.cancel()
	p.work.Wait()
}

// run posts what a room has to, until there is nothing more.
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
	to := "the webhook"
	if wire.IsDiscord(post.URL) {
		to = "Discord"
	}
	if wire.CheckWebhook(post.URL) != nil ||
		post.URL != p.Own && !strings.HasPrefix(strings.TrimPrefix(post.URL, wire.PlainWebhook), "https:") {
		return fmt.Errorf("%s is no https URL: give another", to)
	}
	body, err := bodyOf(post)
	if err != nil {
		return err
	}
	for again := 0; ; again++ {
		if !p.mayPost(post) {
			return fmt.Errorf("the room has posted %d times within the hour, which is as often as one may", roomPosts)
		}
		var failure *failure
		if err := p.send(ctx, post.URL, body); err == nil || !errors.As(err, &failure) {
			return err
		}
		pause := failure.pause
		if again < len(pauses) {
			pause = max(pause, pauses[again])
		}
		if failure.isFinal || again == len(pauses) || pause > longestPause {
			return fmt.Errorf("%s %s", to, failure.why)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// mayPost reports whether a room may post once more, and counts that.
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

// failure is why a try came to nothing.
type failure struct {
	why string
	// isFinal: another would come to the same. pause is for how long the service wants to
	// be left alone.
	isFinal bool
	pause   time.Duration
}

func (f *failure) Error() string { return f.why }

// send posts once.
func (p *Poster) send(ctx context.Context, hook string, body []byte) error {
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
		return &failure{why: "has a URL that makes no sense", isFinal: true}
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "Muster (game server selector)")
	by := p.strangers
	if hook == p.Own {
		by = p.owner
	}
	response, err := by.RoundTrip(request) // which follows no redirect
	if err != nil {
		return unreached(err)
	}
	defer response.Body.Close()
	io.CopyN(io.Discard, response.Body, answerBytes) // so that who answers properly is heard out
	return refused(response)
}

// refused is what an answer means.
func refused(response *http.Response) error {
	code := response.StatusCode
	switch {
	case code >= 200 && code < 300:
		return nil
	case code >= 300 && code < 400:
		return &failure{why: fmt.Sprintf("leads elsewhere (%d), where nothing is posted: give the URL that it leads to", code), isFinal: true}
	case code == http.StatusTooManyRequests:
		return &failure{why: "is asked too often (429): the next announcement is posted again", pause: retryAfter(response)}
	case code == http.StatusUnauthorized, code == http.StatusForbidden, code == http.StatusNotFound, code == http.StatusGone:
		return &failure{why: fmt.Sprintf("refused the webhook (%d): make a new one in the channel's settings", code), isFinal: true}
	case code >= 500 || code == http.StatusRequestTimeout:
		return &failure{why: fmt.Sprintf("has trouble of its own (%d): the next announcement is posted again", code), pause: retryAfter(response)}
	}
	return &failure{why: fmt.Sprintf("does not take what Muster posts (%d): is it a webhook?", code), isFinal: true}
}

// retryAfter is for how long a service wants to be left alone, 0 if it does not say.
// Discord says it in seconds with a fraction, others may in whole ones, or say when.
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

// errPrivate is why an address is not connected to.
var errPrivate = errors.New("it leads into a private network")

// unreached says why there was no answer: never the URL, nor what it resolves to.
func unreached(err error) error {
	var name *net.DNSError
	var timeout net.Error
	switch {
	case errors.Is(err, errPrivate):
		return &failure{why: "leads into a private network, where this host does not post: give a public one", isFinal: true}
	case errors.As(err, &name) && name.IsNotFound:
		return &failure{why: "has a name that does not exist: is it misspelt?", isFinal: true}
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return &failure{why: "does not answer: the next announcement is posted again"}
	}
	return &failure{why: "cannot be reached: is its URL right, and this machine on the internet?"}
}

// transport connects; for strangers to no private network, whatever name led there: what
// it checks is the address that is dialed, so a name that leads elsewhere the second time
// gains nothing.
func transport(strangers bool) *http.Transport {
	dialer := &net.Dialer{Timeout: tryTime, Control: func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil || strangers && discovery.ReachOf(to.Addr().Unmap()) != discovery.InternetReach {
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

// isHTTPS reports whether a link may be told where people only click.
func isHTTPS(link string) bool {
	u, err := url.Parse(link)
	return err == nil && u.Scheme == "https" && u.Host != ""
}
