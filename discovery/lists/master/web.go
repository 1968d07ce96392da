package master

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"muster/discovery"
	"muster/discovery/lists/address"
	"muster/discovery/lists/weblist"
)

// WebList is a list from a service on the web, and the way to read it.
type WebList struct {
	// URLs are its places, the same list at each. They are asked one after another
	// until one answers.
	URLs []string `toml:"urls"`
	// Every is how many minutes a list is taken from the cache without asking, if its
	// service wants to be asked less often than once a minute.
	Every int `toml:"every_minutes"`
	weblist.Form
	// Port is the servers' if the list has none.
	Port uint16 `toml:"-"`
	// Secret is a part of URLs that nobody may see.
	Secret string `toml:"-"`
	// Label is the list's name for people; empty is the service's host.
	Label string `toml:"-"`
}

// Bounds of a service's time and answer.
const (
	// webPatience is for all of a list's URLs together. Rooms wait for a minute; it is
	// less, so that an old list still comes.
	webPatience = 50 * time.Second
	// urlPatience bounds the time for one URL. The longest list that is sent whole has 24 MB, and
	// takes this long over 7 Mbit/s. Packed, it takes this long over 1 Mbit/s.
	urlPatience = 30 * time.Second
	// firstByte is for a service that computes its list.
	firstByte = 15 * time.Second
	// maxRedirects leave room for http to https, a name with www and one more.
	maxRedirects = 5
	// freshFor is how long a list is taken from the cache without asking: services
	// renew theirs about as often, and a second room or program costs them nothing.
	freshFor = time.Minute
	// keptFor is the largest age of a cached list when its service is away. Servers
	// keep their addresses for months.
	keptFor = 30 * 24 * time.Hour
)

// userAgent is Muster's name for services. Some refuse libraries' own names.
const userAgent = "Muster (game server selector)"

// StatusError is a service's answer without a list.
type StatusError struct {
	Code int
	// RetryAfter is when the service wants to be asked again, 0 if it does not say.
	RetryAfter time.Duration
}

func (e *StatusError) Error() string {
	text := fmt.Sprintf("the service answers %d %s", e.Code, http.StatusText(e.Code))
	if e.RetryAfter > 0 {
		text += fmt.Sprintf(", and wants to be left alone for %v", e.RetryAfter)
	}
	return text
}

// errPrivate is why a service's address is not asked.
var errPrivate = errors.New("it leads into a private network, where no list on the internet leads")

// StaleError is a warning: a list is taken from the cache because its service is away.
type StaleError struct {
	List string
	Age  time.Duration
	Err  error
}

func (e *StaleError) Error() string {
	return fmt.Sprintf("master: %s: %v: taking its list of %s ago", e.List, e.Err, age(e.Age))
}

func (e *StaleError) Unwrap() error { return e.Err }

func age(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return "a minute"
	case d < 2*time.Hour:
		return fmt.Sprintf("%d minutes", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d hours", d/time.Hour)
	}
	return fmt.Sprintf("%d days", d/(24*time.Hour))
}

func (l WebList) name() string {
	if l.Label != "" {
		return l.Label
	}
	u, err := url.Parse(l.URLs[0])
	if err != nil || u.Host == "" {
		return "a list"
	}
	return u.Host
}

// CheckURL reports errors in a list's URL.
func CheckURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return fmt.Errorf("%q is no URL", discovery.CleanText(text))
	case u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "tcp", u.Host == "":
		return fmt.Errorf("%q is no URL that starts with https://, http:// or tcp://", discovery.CleanText(text))
	case u.User != nil:
		return fmt.Errorf("the URL of %s holds a name or a password", u.Host)
	}
	return nil
}

// fetch gets the list from the first URL that gives it, or from the cache.
func (l WebList) fetch(ctx context.Context, c Client) (Listing, error) {
	got, warnings, err := l.get(ctx, c)
	if err != nil {
		return Listing{}, err
	}
	listing, err := c.place(ctx, l, got.Rows, got.At)
	listing.Warnings = append(warnings, listing.Warnings...)
	return listing, err
}

// cached is a fetched list, with the headers for asking whether it has changed.
type cached struct {
	URL      string        `json:"url"` // without the secret
	ETag     string        `json:"etag,omitempty"`
	Modified string        `json:"modified,omitempty"`
	At       time.Time     `json:"at"`
	Rows     []weblist.Row `json:"rows"`
	Listed   int           `json:"listed"`        // rows before the cut to shares
	Cut      []string      `json:"cut,omitempty"` // warnings
}

// key returns the name of a list's cache. A change in reading the list changes it, so
// the list is fetched again.
func (l WebList) key() string {
	l.Secret = ""
	text, _ := json.Marshal(l)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16]) + ".json"
}

// get returns the fetched list, cut to a share of each address, with warnings.
func (l WebList) get(ctx context.Context, c Client) (*cached, []error, error) {
	old := c.Cache.load(l.key())
	now := time.Now()
	if old != nil && now.Sub(old.At) < max(freshFor, time.Duration(l.Every)*time.Minute) && !now.Before(old.At) {
		return old, warningsOf(old.Cut), nil
	}
	ctx, cancel := context.WithTimeout(ctx, webPatience)
	defer cancel()
	var errs []error
	for _, at := range l.URLs {
		fresh, err := l.ask(ctx, c, at, old)
		if err == nil {
			fresh.At = now
			c.Cache.save(l.key(), fresh)
			return fresh, warningsOf(fresh.Cut), nil
		}
		if errs = append(errs, err); ctx.Err() != nil {
			break
		}
	}
	err := errs[len(errs)-1]
	if old != nil && now.Sub(old.At) < keptFor {
		return old, append(warningsOf(old.Cut), &StaleError{List: l.name(), Age: now.Sub(old.At), Err: err}), nil
	}
	return nil, nil, err
}

func warningsOf(cut []string) (warnings []error) {
	for _, text := range cut {
		warnings = append(warnings, errors.New(text))
	}
	return warnings
}

// ask asks for the list at a URL. If the old one is still valid, ask returns that.
func (l WebList) ask(ctx context.Context, c Client, at string, old *cached) (*cached, error) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(c.Patience, urlPatience))
	defer cancel()
	if rest, isTCP := strings.CutPrefix(at, "tcp://"); isTCP {
		return l.askTCP(ctx, c, at, rest)
	}
	if l.Next != "" {
		return l.askPages(ctx, c, at)
	}
	fresh, _, err := l.askPage(ctx, c, at, at, old)
	return fresh, err
}

// maxPages bounds a list in pages: those that are known have some ten.
const maxPages = 100

// askPages asks for all pages of a list. Without one of them it takes the pages before.
func (l WebList) askPages(ctx context.Context, c Client, at string) (*cached, error) {
	all := &cached{URL: at}
	end := ""
	for range maxPages {
		page, next, err := l.askPage(ctx, c, at, at+end, nil)
		var shape *weblist.ShapeError
		switch {
		case err != nil && len(all.Rows) == 0:
			return nil, err
		case errors.As(err, &shape) && shape.Rows == 0:
			return all, nil // nothing was left for this page
		case err != nil:
			all.Cut = append(all.Cut, fmt.Sprintf("master: %s: %v: taking the %d servers before that", l.name(), err, len(all.Rows)))
			return all, nil
		}
		all.Rows, all.Listed, all.Cut = append(all.Rows, page.Rows...), all.Listed+page.Listed, append(all.Cut, page.Cut...)
		if next == "" || next == end || len(all.Rows) >= discovery.MaxServers {
			break
		}
		end = next
	}
	return all, nil
}

// askPage asks for one page of a list, or for all of it. If the old one is still valid, it
// returns that.
func (l WebList) askPage(ctx context.Context, c Client, at, pageAt string, old *cached) (_ *cached, next string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, pageAt+l.Secret, nil)
	if err != nil {
		return nil, "", errors.New("its URL is none")
	}
	request.Header.Set("User-Agent", userAgent)
	if old != nil && old.URL == at {
		if old.ETag != "" {
			request.Header.Set("If-None-Match", old.ETag)
		}
		if old.Modified != "" {
			request.Header.Set("If-Modified-Since", old.Modified)
		}
	}
	client := l.client(c, request.URL)
	defer client.CloseIdleConnections()
	answer, err := client.Do(request)
	if err != nil {
		return nil, "", webReason(err)
	}
	defer answer.Body.Close()
	switch {
	case answer.StatusCode == http.StatusNotModified && old != nil:
		same := *old
		return &same, "", nil
	case answer.StatusCode != http.StatusOK:
		return nil, "", &StatusError{Code: answer.StatusCode, RetryAfter: retryAfter(answer.Header.Get("Retry-After"))}
	}
	fresh := &cached{URL: at, ETag: short(answer.Header.Get("ETag")), Modified: short(answer.Header.Get("Last-Modified"))}
	next, err = l.read(answer.Body, fresh, isLocalURL(request.URL))
	return fresh, next, err
}

// short returns a header for sending back, unless it is longer than any honest one.
func short(header string) string {
	const most = 256
	if len(header) > most {
		return ""
	}
	return header
}

// retryAfter reads the header of that name, in seconds.
func retryAfter(header string) time.Duration {
	seconds, err := time.ParseDuration(header + "s")
	if err != nil || seconds < 0 {
		return 0
	}
	return min(seconds, time.Hour)
}

// client asks for one list. It ignores the proxies of the environment, because nobody
// here can check the addresses that a proxy dials.
func (l WebList) client(c Client, first *url.URL) *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			DialContext: c.dialer(isLocalURL(first)), TLSHandshakeTimeout: firstByte, ResponseHeaderTimeout: firstByte,
			MaxResponseHeaderBytes: 64 << 10, ForceAttemptHTTP2: true,
		},
		CheckRedirect: func(to *http.Request, via []*http.Request) error {
			switch {
			case len(via) > maxRedirects:
				return errors.New("it leads from one place to the next without end")
			case l.Secret != "":
				return errors.New("it leads elsewhere, and the key must not go there")
			case via[0].URL.Scheme == "https" && to.URL.Scheme != "https":
				return errors.New("it leads from an encrypted place to one that is not")
			case isLocalURL(to.URL) && !isLocalURL(via[0].URL):
				return errPrivate
			}
			return nil
		},
	}
}

// isLocalURL reports whether a URL names, by itself and without any resolver, a place
// in a private network. The author of such a table means it.
func isLocalURL(u *url.URL) bool {
	addr, err := netip.ParseAddr(u.Hostname())
	if err != nil {
		return strings.EqualFold(u.Hostname(), "localhost")
	}
	return discovery.ReachOf(addr) != discovery.InternetReach
}

// dialTimeout is for one of a service's addresses.
const dialTimeout = 5 * time.Second

// dialer connects to services. It refuses private networks after any name or redirect,
// unless the list itself is there. It checks the address that it dials.
func (c Client) dialer(local bool) func(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: dialTimeout, Control: func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil || !local && discovery.ReachOf(to.Addr().Unmap()) != discovery.InternetReach && !discovery.IsStandIn(to.Addr()) {
			return errPrivate
		}
		return nil
	}}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		addrs, err := c.addresses(ctx, host)
		if err != nil {
			return nil, err
		}
		var conn net.Conn
		for _, addr := range addrs[:min(len(addrs), maxDialed)] {
			if conn, err = dialer.DialContext(ctx, network, net.JoinHostPort(addr.String(), port)); err == nil {
				return conn, nil
			}
		}
		return nil, err
	}
}

// maxDialed is how many addresses of a service are tried.
const maxDialed = 4

// webReason returns an error of HTTP without the URL, which may hold a key.
func webReason(err error) error {
	var inURL *url.Error
	var timeout net.Error
	switch {
	case errors.Is(err, errPrivate):
		return errPrivate
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case errors.As(err, &timeout) && timeout.Timeout():
		return errors.New("the service does not answer in time")
	case errors.As(err, &inURL):
		err = inURL.Err
	}
	return reason(err)
}

// read reads an answer into a list, and cuts it to a share of each address. It returns the
// end of the next page's URL.
func (l WebList) read(body io.Reader, into *cached, local bool) (next string, err error) {
	var all sample[written, weblist.Row]
	wrong := 0
	next, err = l.ReadPage(body, func(row weblist.Row) bool {
		into.Listed++
		to, err := address.One(row.Address)
		if err != nil {
			wrong++
			return true
		}
		at, free := placeOfName(to.Host, to.Port), false
		if addr, err := netip.ParseAddr(to.Host); err == nil {
			if !local && discovery.ReachOf(addr) != discovery.InternetReach && !isFake(addr) {
				wrong++
				return true
			}
			at, free = placeOf(0, netip.AddrPortFrom(addr, to.Port)), local && isFree(addr)
		}
		if known := all.add(written{"", to.Host, to.Port}, at, free); known != nil && known.Address == "" {
			row.Address = to.String()
			*known = row
		}
		return true
	})
	into.Rows = all.all()
	for _, w := range all.warnings(l.name()) {
		into.Cut = append(into.Cut, w.Error())
	}
	switch {
	case err != nil && len(into.Rows) > 0 && errors.Is(err, discovery.ErrMalformed):
		into.Cut = append(into.Cut, fmt.Sprintf("master: %s: %v: taking the %d servers before that", l.name(), err, len(into.Rows)))
		into.ETag, into.Modified = "", "" // an incomplete list must not be cached as complete
		return "", nil
	case err != nil:
		return "", webReason(err)
	case len(into.Rows) == 0 && wrong > 0:
		return "", fmt.Errorf("none of its %d addresses is one on the internet", wrong)
	}
	return next, nil
}

// askTCP asks a master that speaks TCP, such as Sauerbraten's: it sends a line and
// reads the list.
func (l WebList) askTCP(ctx context.Context, c Client, at, address string) (*cached, error) {
	local := isLocalURL(&url.URL{Host: address})
	conn, err := c.dialer(local)(ctx, "tcp", address)
	if err != nil {
		return nil, webReason(err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if _, err := conn.Write([]byte("list\n")); err != nil {
		return nil, webReason(err)
	}
	fresh := &cached{URL: at}
	_, err = l.read(&untilSilence{conn: conn, wait: firstByte}, fresh, local)
	return fresh, err
}

// untilSilence ends a list when its master is silent, because not all masters close the
// connection.
type untilSilence struct {
	conn net.Conn
	wait time.Duration
}

func (u *untilSilence) Read(b []byte) (int, error) {
	_ = u.conn.SetReadDeadline(time.Now().Add(u.wait)) // fails on a closed connection, and so does the read
	n, err := u.conn.Read(b)
	if timeout, is := errors.AsType[net.Error](err); is && timeout.Timeout() && u.wait == silence {
		err = io.EOF
	}
	if n > 0 {
		u.wait = silence
	}
	return n, err
}
