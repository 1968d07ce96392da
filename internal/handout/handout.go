// Package handout gives Muster's programs to those who have none yet: the host's own to
// who has the same system, others' builds that lie in a folder beside it, and what it has
// not from the project's release, once somebody asks for it. On a LAN without internet
// this is how everyone gets it.
//
//	GET  /get/                  a page for people
//	GET  /get/programs.json     what there is, and which of it the visitor's system takes
//	GET  /get/SYSTEM            a program
//	POST /get/SYSTEM            a program that knows the room whose link the body is
//	…    /get/SYSTEM.minisig    its signature, for who verifies it
//
// A program that knows its room has the link in its name (see [muster/internal/invite]),
// so that its bytes stay those that were signed. Windows starts it as it is; for macOS
// and Linux it is packed, with its signature, as only archives carry that a file may be
// run.
//
//	the host's own ──┐
//	--downloads ─────┼─▶ who vouches? ──▶ the project's own, or a friend's copy ──▶ given
//	the release ─────┘        │
//	   once asked for         └──▶ signed, but as something else: given to nobody
package handout

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"muster/internal/invite"
	"muster/internal/release"
	"muster/internal/release/fetch"
)

// Origin is who vouches for a program.
type Origin string

const (
	// Project: the project has signed it.
	Project Origin = "project"
	// Friend: whoever runs the host has it from somewhere.
	Friend Origin = "friend"
)

// Config is what a handout needs of its surroundings.
type Config struct {
	// Version is this build's, for people.
	Version string
	// Release is the address of the project's releases, or empty.
	Release string
	// Own is the file of the running program, or empty.
	Own string
	// Folder holds others' builds, or is empty.
	Folder string
	// Keys are those with which the project signs; none know nobody.
	Keys release.Keys
	// Source is where to get what is missing, once somebody asks; nil gets nothing.
	Source *fetch.Source
	// Say is told what is got, Warn what is not given, and why.
	Say  func(format string, args ...any)
	Warn func(...error)
}

// Handout is an [http.Handler] for all below /get/.
type Handout struct {
	config Config
	giving givings
	// judgeOwn finds out who vouches for the host's own program, which reads all of it,
	// once somebody wants to know.
	judgeOwn func()
	// ctx lasts until the handout is closed, and work are those who get programs.
	ctx  context.Context
	stop context.CancelFunc
	work sync.WaitGroup

	mu       sync.Mutex
	programs []*program
	refused  []refusal
	arrivals map[string]*arrival
}

// program is one that can be given.
type program struct {
	System string `json:"system"`
	// Name is what people call the system, and File the ending of what they get.
	Name   string `json:"name"`
	File   string `json:"file"`
	Size   int64  `json:"size"`
	Origin Origin `json:"origin"`
	// Version is of which release it is, as far as that is known.
	Version string `json:"version,omitempty"`
	// Signature is where its signature is, if there is one that holds and that does not
	// come along.
	Signature string `json:"signature,omitempty"`
	// Advice says what the system asks before it starts a new program, and what to do.
	Advice string `json:"advice"`
	// Away: the host gets it from the project's release first. Of what is underway Got
	// bytes have come, Size in all; Trouble is why it did not come. Wrong: what came is
	// not the project's, and nobody is to take it from there.
	Away    bool   `json:"away,omitempty"`
	Got     int64  `json:"got,omitempty"`
	Trouble string `json:"trouble,omitempty"`
	Wrong   bool   `json:"wrong,omitempty"`

	file      string
	data      *os.File
	changed   time.Time
	signature []byte
}

// refusal is a program that is there, but given to nobody.
type refusal struct {
	System string `json:"system"`
	Name   string `json:"name"`
	// Why is a sentence for people.
	Why string `json:"why"`
}

const (
	// arriveTime is how long a visitor waits for a program that the host has to get first.
	arriveTime = 10 * time.Minute
	// maxLink bounds the link of a room, in bytes.
	maxLink = 2 << 10
	// maxFiles bounds how many files of a folder are looked at: all systems, each with
	// a signature, and some that do not belong there.
	maxFiles = 64
)

// New looks through the folder. What is found there stays open, so that what was looked
// at is what is given.
func New(ctx context.Context, config Config) (*Handout, error) {
	h := &Handout{config: config, arrivals: map[string]*arrival{}}
	h.ctx, h.stop = context.WithCancel(ctx)
	if h.config.Say == nil {
		h.config.Say = func(string, ...any) {}
	}
	if h.config.Warn == nil {
		h.config.Warn = func(...error) {}
	}
	if config.Folder != "" {
		if err := h.lookThrough(); err != nil {
			h.Close()
			return nil, err
		}
	}
	h.judgeOwn = func() {}
	if config.Own != "" {
		if data, err := os.Open(config.Own); err == nil { // or it has been deleted, and others' builds are left
			system, err := systemOf(data) // a build for both of macOS' processors is for both
			if err != nil {
				system = runtime.GOOS + "-" + runtime.GOARCH
			}
			if p := h.add(data, config.Own, system, release.Verdict{}); p != nil {
				p.Version = config.Version
				h.judgeOwn = sync.OnceFunc(func() { h.judge(p) })
			} else {
				data.Close()
			}
		}
	}
	return h, nil
}

// lookThrough takes what lies in the folder, and nothing that a link in it leads to
// elsewhere.
func (h *Handout) lookThrough() error {
	root, err := os.OpenRoot(h.config.Folder)
	if err != nil {
		return fmt.Errorf("cannot give programs from %s: %w", h.config.Folder, err)
	}
	defer root.Close()
	folder, err := root.Open(".")
	if err != nil {
		return fmt.Errorf("cannot give programs from %s: %w", h.config.Folder, err)
	}
	defer folder.Close()
	names, err := folder.Readdirnames(maxFiles + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("cannot give programs from %s: %w", h.config.Folder, err)
	}
	if len(names) > maxFiles {
		return fmt.Errorf("cannot give programs from %s: there are more than %d files in it; give it a folder "+
			"of its own", h.config.Folder, maxFiles)
	}
	slices.Sort(names)
	for _, name := range names {
		data, err := root.Open(name)
		if err != nil {
			h.config.Warn(fmt.Errorf("%s is not given to anybody: it cannot be read, or leads out of %s", name, h.config.Folder))
			continue
		}
		system, err := systemOf(data)
		if err != nil {
			data.Close()
			continue
		}
		if p := h.add(data, filepath.Join(h.config.Folder, name), system, release.Verdict{}); p == nil {
			data.Close()
		} else {
			h.judge(p)
		}
	}
	if len(h.programs)+len(h.refused) == 0 {
		h.config.Warn(fmt.Errorf("in %s is no build of Muster; it takes programs as the releases have them, unpacked", h.config.Folder))
	}
	return nil
}

// add takes a program of which so much is known, unless there is one for its system.
// Once it is there others give it.
func (h *Handout) add(data *os.File, file, system string, v release.Verdict) *program {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := place(system)
	info, err := data.Stat()
	if i < 0 || err != nil || !info.Mode().IsRegular() || h.of(system) != nil {
		return nil
	}
	p := &program{
		System:  system,
		Name:    systems[i].name,
		File:    "muster" + systems[i].ending,
		Size:    info.Size(),
		Origin:  Friend,
		Advice:  systems[i].advice,
		file:    file,
		data:    data,
		changed: info.ModTime(),
	}
	p.vouchedFor(v)
	h.programs = append(h.programs, p)
	slices.SortFunc(h.programs, func(a, b *program) int { return cmp.Compare(place(a.System), place(b.System)) })
	return p
}

// judge finds out who vouches for a program. One that the project has signed as something
// else is given to nobody: somebody changed it, or wants to pass it off as what it is not.
func (h *Handout) judge(p *program) {
	v, err := h.config.Keys.VerifyOpen(h.ctx, p.data, p.file)
	if v.Standing == release.Own && p.file == h.config.Own && v.Version != h.config.Version {
		v.Standing, v.Why = release.Misnamed, fmt.Sprintf("it is signed as Muster %s and says that it is %s", v.Version, h.config.Version)
	}
	why := ""
	switch {
	case err != nil:
		why = "it cannot be read"
	case v.Standing == release.Changed, v.Standing == release.Misnamed:
		why = v.String()
	}
	if why != "" {
		what := filepath.Base(p.file)
		if p.file == h.config.Own {
			what = "this program itself"
		}
		h.config.Warn(fmt.Errorf("%s is not given to anybody: %s; get it again from the project's release page", what, why))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case why != "":
		h.programs = slices.DeleteFunc(h.programs, func(other *program) bool { return other == p })
		h.refused = append(h.refused,
			refusal{p.System, p.Name, fmt.Sprintf("The program for %s that this host has is given to nobody: %s.", p.Name, why)})
		p.data.Close()
	default:
		p.vouchedFor(v)
	}
}

// vouchedFor notes that a program is the project's own, if it is.
func (p *program) vouchedFor(v release.Verdict) {
	if v.Standing != release.Own {
		return
	}
	p.Origin, p.Version, p.signature = Project, v.Version, v.Signature
	if p.signature != nil && !packed(p.File) {
		p.Signature = "/get/" + p.System + release.SignatureEnding
	}
}

// of is the program for a system, or nil. The caller has the lock.
func (h *Handout) of(system string) *program {
	if i := slices.IndexFunc(h.programs, func(p *program) bool { return p.System == system }); i >= 0 {
		return h.programs[i]
	}
	return nil
}

// program is the one for a system that is here, or nil.
func (h *Handout) program(system string) *program {
	h.judgeOwn()
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.of(system)
}

// Close closes the programs, and waits for who gets any.
func (h *Handout) Close() error {
	h.stop()
	h.work.Wait()
	var err error
	for _, p := range h.programs {
		err = errors.Join(err, p.data.Close())
	}
	return err
}

func (h *Handout) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch what := strings.TrimPrefix(r.URL.Path, "/get/"); what {
	case "":
		h.page(w, r)
	case "programs.json":
		h.list(w, r)
	default:
		h.give(w, r, what)
	}
}

// offer is what there is for a visitor.
type offer struct {
	Format  string `json:"format"`
	Version string `json:"version"`
	Release string `json:"release,omitempty"`
	// Yours is the system that the visitor has, as far as its browser says, in words and
	// as the one of Programs; that is empty if there is none. Phone: none plays there.
	Yours  string `json:"yours"`
	System string `json:"system,omitempty"`
	Phone  bool   `json:"phone,omitempty"`
	// Direct is where the release page itself has the file for the visitor's system.
	Direct   string    `json:"direct,omitempty"`
	Programs []program `json:"programs"`
	Refused  []refusal `json:"refused,omitempty"`
}

func (h *Handout) offer(r *http.Request) offer {
	o := offer{Format: "muster.programs/1", Version: h.config.Version, Release: h.config.Release, Programs: h.all()}
	h.mu.Lock()
	o.Refused = slices.Clone(h.refused)
	h.mu.Unlock()
	v := visitorOf(r.UserAgent(), r.Header.Get("Sec-CH-UA-Platform"))
	o.Yours, o.Phone = v.name, v.phone
	for _, isAway := range []bool{false, true} { // what is here comes first
		for _, system := range v.systems {
			if o.System == "" && slices.ContainsFunc(o.Programs, func(p program) bool { return p.System == system && p.Away == isAway }) {
				o.System = system
			}
		}
	}
	isWrong := slices.ContainsFunc(o.Programs, func(p program) bool { return p.System == o.System && p.Wrong })
	if len(v.systems) > 0 && !isWrong && h.config.Release != "" && h.config.Version != release.Unreleased {
		o.Direct = fetch.URL(h.config.Release, h.config.Version, "muster_"+h.config.Version+systems[place(v.systems[0])].direct)
	}
	return o
}

// all are the programs that can be had, as they are now.
func (h *Handout) all() []program {
	h.judgeOwn()
	h.mu.Lock()
	defer h.mu.Unlock()
	all := []program{}
	for _, p := range h.programs {
		all = append(all, *p)
	}
	for i, s := range systems {
		if h.config.Source == nil || s.release == "" || h.of(s.system) != nil {
			continue
		}
		p := program{
			System:  s.system,
			Name:    s.name,
			File:    "muster" + s.ending,
			Origin:  Project,
			Version: h.config.Source.Version,
			Advice:  systems[i].advice,
			Away:    true,
		}
		if a := h.arrivals[s.system]; a != nil {
			p.Got, p.Size, p.Trouble, p.Wrong = a.got.Load(), a.of.Load(), a.trouble, a.wrong
		}
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b program) int { return cmp.Compare(place(a.System), place(b.System)) })
	return all
}

func (h *Handout) list(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	json.NewEncoder(w).Encode(h.offer(r)) // fails only if the client is gone
}

// give gives the program for a system, or its signature.
func (h *Handout) give(w http.ResponseWriter, r *http.Request, what string) {
	system, isSignature := strings.CutSuffix(what, release.SignatureEnding)
	p := h.program(system)
	if p == nil && (isSignature || h.config.Source == nil || !isReleased(system)) {
		http.Error(w, "there is no program for that system here", http.StatusNotFound)
		return
	}
	name := "muster"
	if r.Method == http.MethodPost {
		link, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxLink))
		to, wrong := invite.Parse(strings.TrimSpace(string(link)), "")
		if err := errors.Join(err, wrong); err != nil {
			http.Error(w, "that is no link to a room", http.StatusBadRequest)
			return
		}
		name = cmp.Or(to.FileName(), name)
	}
	done, isOwn := h.giving.begin(visitorAt(r))
	if done == nil {
		w.Header().Set("Retry-After", "10")
		if isOwn {
			http.Error(w, "your network is downloading programs here already: try again once one is there", http.StatusTooManyRequests)
		} else {
			http.Error(w, fmt.Sprintf("%d programs are being downloaded here: try again in a moment", atOnce), http.StatusServiceUnavailable)
		}
		return
	}
	defer done()
	line, until := http.NewResponseController(w), time.Now().Add(arriveTime)
	line.SetReadDeadline(until) // or the request is over before the program is here
	line.SetWriteDeadline(until)
	w.Header().Set("Cache-Control", "no-store")
	if p == nil {
		var trouble string
		if p, trouble = h.arrive(r.Context(), system); p == nil {
			http.Error(w, trouble, http.StatusBadGateway)
			return
		}
	}
	w = steadily(w)
	if isSignature {
		if p.signature == nil {
			http.Error(w, "there is no signature of that program here", http.StatusNotFound)
			return
		}
		attach(w, name+executable(p.File)+release.SignatureEnding)
		w.Write(p.signature)
		return
	}
	file := name + strings.TrimPrefix(p.File, "muster")
	attach(w, file)
	data := io.NewSectionReader(p.data, 0, p.Size)
	switch filepath.Ext(file) {
	case ".zip":
		packZip(w, name, p, data)
	case ".gz":
		packTar(w, name, p, data)
	default:
		http.ServeContent(w, r, "", p.changed, data)
	}
}

// attach has the browser keep what comes under a name.
func attach(w http.ResponseWriter, name string) {
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
}
