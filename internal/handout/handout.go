// Package handout gives Muster's programs to people who have none yet. It gives the host's own program, builds for
// other systems from a folder, and downloads anything else from the project's release when somebody asks. On a LAN
// without internet this is how everyone gets Muster.
//
//	GET  /get/                  a page for people
//	GET  /get/programs.json     the programs, and those that the visitor's system runs
//	GET  /get/SYSTEM            a program
//	POST /get/SYSTEM            a program that knows the room whose link the body is
//	…    /get/SYSTEM.minisig    its signature, for people who verify it
//
// A program that knows its room has the link in its file name (see [muster/internal/invite]), so that its bytes remain
// those that were signed. Windows starts it as it is. For macOS and Linux it is packed, with its signature, because
// only archives record that a file is executable.
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

	"muster/discovery/sentence"
	"muster/internal/hint"
	"muster/internal/invite"
	"muster/internal/release"
	"muster/internal/release/fetch"
)

// Origin says who vouches for a program.
type Origin string

const (
	// Project says that the project has signed it.
	Project Origin = "project"
	// Friend says that the host's operator has it from somewhere.
	Friend Origin = "friend"
)

// Config is what a handout needs from its surroundings.
type Config struct {
	// Version is this build's, for people.
	Version string
	// Release is the address of the project's releases, or empty.
	Release string
	// Own is the running program's file, or empty.
	Own string
	// Folder holds builds for other systems, or is empty.
	Folder string
	// Keys are the project's signing keys. Without any, no program counts as the project's.
	Keys release.Keys
	// Source is where missing programs come from when somebody asks; nil downloads nothing.
	Source *fetch.Source
	// Say reports what is downloaded, Warn what is not given and why.
	Say  func(format string, args ...any)
	Warn func(...error)
}

// Handout is an [http.Handler] for everything below /get/.
type Handout struct {
	config Config
	giving givings
	// judgeOwn finds out who vouches for the host's own program when that is first needed. It reads the whole file.
	judgeOwn func()
	// ctx ends when the handout closes. work counts the downloads.
	ctx  context.Context
	stop context.CancelFunc
	work sync.WaitGroup

	mu       sync.Mutex
	programs []*program
	refused  []refusal
	arrivals map[string]*arrival
}

// program is a program that can be given.
type program struct {
	System string `json:"system"`
	// Name is people's name for the system, and File the ending of the file that they get.
	Name   sentence.Sentence `json:"name"`
	File   string            `json:"file"`
	Size   int64             `json:"size"`
	Origin Origin            `json:"origin"`
	// Version is the program's release, if known.
	Version string `json:"version,omitempty"`
	// Signature is the address of a valid signature, if there is one that is not packed with the program.
	Signature string `json:"signature,omitempty"`
	// Advice says what the system asks before it starts a new program, and how to answer.
	Advice sentence.Sentence `json:"advice"`
	// Away says that the host must download it first. Got of Size bytes have arrived; Trouble is why the download
	// failed. Wrong says that the download was not the project's, and that nobody should take it from there.
	Away    bool              `json:"away,omitempty"`
	Got     int64             `json:"got,omitempty"`
	Trouble sentence.Sentence `json:"trouble,omitzero"`
	Wrong   bool              `json:"wrong,omitempty"`

	file      string
	data      *os.File
	changed   time.Time
	signature []byte
}

// refusal is a program that exists but is given to nobody.
type refusal struct {
	System string            `json:"system"`
	Name   sentence.Sentence `json:"name"`
	Why    sentence.Sentence `json:"why"`
}

const (
	// arriveTime is how long a visitor waits for a program that the host downloads first.
	arriveTime = 10 * time.Minute
	// maxLink bounds a room's link, in bytes.
	maxLink = 2 << 10
	// maxFiles bounds how many files of a folder are examined: all systems, each with a signature, and some strays.
	maxFiles = 64
)

// New examines the folder and keeps its files open, so that visitors get the very files that were examined.
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
		if data, err := os.Open(config.Own); err == nil { // a deleted file leaves the other builds
			system, err := systemOf(data) // a macOS build for both processors is for both
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

// lookThrough adds the files in the folder. It follows no link out of the folder.
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
			h.config.Warn(hint.Say("get.warn-unreadable", "file", name, "folder", h.config.Folder))
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
		h.config.Warn(hint.Say("get.warn-none", "folder", h.config.Folder))
	}
	return nil
}

// add adds a program, unless there is already one for its system. From then on visitors can get it.
func (h *Handout) add(data *os.File, file, system string, v release.Verdict) *program {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := place(system)
	info, err := data.Stat()
	if i < 0 || err != nil || !info.Mode().IsRegular() || h.programFor(system) != nil {
		return nil
	}
	p := &program{
		System:  system,
		Name:    sentence.Of(systems[i].name),
		File:    "muster" + systems[i].ending,
		Size:    info.Size(),
		Origin:  Friend,
		Advice:  sentence.Of(systems[i].advice),
		file:    file,
		data:    data,
		changed: info.ModTime(),
	}
	p.vouchedFor(v)
	h.programs = append(h.programs, p)
	slices.SortFunc(h.programs, func(a, b *program) int { return cmp.Compare(place(a.System), place(b.System)) })
	return p
}

// judge finds out who vouches for a program. If the project has signed it as something else, nobody gets it: somebody
// has changed it, or wants to pass it off as another program.
func (h *Handout) judge(p *program) {
	v, err := h.config.Keys.VerifyOpen(h.ctx, p.data, p.file)
	if v.Standing == release.Own && p.file == h.config.Own && v.Version != h.config.Version {
		v.Standing, v.Why = release.Misnamed, fmt.Sprintf("it is signed as Muster %s and says that it is %s", v.Version, h.config.Version)
	}
	why := sentence.Sentence{}
	switch {
	case err != nil:
		why = sentence.Of("get.unreadable")
	case v.Standing == release.Changed && v.Why == "":
		why = sentence.Of("get.changed")
	case v.Standing == release.Changed:
		why = sentence.Of("get.changed-as", "why", v.Why)
	case v.Standing == release.Misnamed && v.Why == "":
		why = sentence.Of("get.misnamed")
	case v.Standing == release.Misnamed:
		why = sentence.Of("get.misnamed-as", "why", v.Why)
	}
	if !why.IsZero() {
		if p.file == h.config.Own {
			h.config.Warn(hint.Say("get.warn-own", "why", why))
		} else {
			h.config.Warn(hint.Say("get.warn-refused", "file", filepath.Base(p.file), "why", why))
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case !why.IsZero():
		h.programs = slices.DeleteFunc(h.programs, func(other *program) bool { return other == p })
		h.refused = append(h.refused,
			refusal{p.System, p.Name, sentence.Of("get.refused", "system", p.Name, "why", why)})
		p.data.Close()
	default:
		p.vouchedFor(v)
	}
}

// vouchedFor notes that a program is the project's own, if so.
func (p *program) vouchedFor(v release.Verdict) {
	if v.Standing != release.Own {
		return
	}
	p.Origin, p.Version, p.signature = Project, v.Version, v.Signature
	if p.signature != nil && !packed(p.File) {
		p.Signature = "/get/" + p.System + release.SignatureEnding
	}
}

// programFor returns the program for a system, or nil. The caller holds the lock.
func (h *Handout) programFor(system string) *program {
	if i := slices.IndexFunc(h.programs, func(p *program) bool { return p.System == system }); i >= 0 {
		return h.programs[i]
	}
	return nil
}

// program returns the program for a system if the host has it, or nil.
func (h *Handout) program(system string) *program {
	h.judgeOwn()
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.programFor(system)
}

// Close closes the programs, after waiting for downloads.
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

// offer is what a visitor can get.
type offer struct {
	Format  string `json:"format"`
	Version string `json:"version"`
	Release string `json:"release,omitempty"`
	// Yours is the visitor's system, according to its browser: in words, and as a system of Programs, which is empty if
	// there is none. Phone says that it is a phone, which cannot play.
	Yours  sentence.Sentence `json:"yours,omitzero"`
	System string            `json:"system,omitempty"`
	Phone  bool              `json:"phone,omitempty"`
	// Direct is the address of the visitor's file on the release page itself.
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
	for _, isAway := range []bool{false, true} { // programs that the host has come first
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

// all returns the available programs in their current state.
func (h *Handout) all() []program {
	h.judgeOwn()
	h.mu.Lock()
	defer h.mu.Unlock()
	all := []program{}
	for _, p := range h.programs {
		all = append(all, *p)
	}
	for _, s := range systems {
		if h.config.Source == nil || s.release == "" || h.programFor(s.system) != nil {
			continue
		}
		p := program{
			System:  s.system,
			Name:    sentence.Of(s.name),
			File:    "muster" + s.ending,
			Origin:  Project,
			Version: h.config.Source.Version,
			Advice:  sentence.Of(s.advice),
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
	json.NewEncoder(w).Encode(h.offer(r)) // fails only if the client has gone
}

// give gives the program for a system, or its signature.
func (h *Handout) give(w http.ResponseWriter, r *http.Request, what string) {
	system, isSignature := strings.CutSuffix(what, release.SignatureEnding)
	p := h.program(system)
	if p == nil && (isSignature || h.config.Source == nil || !isReleased(system)) {
		fail(w, r, http.StatusNotFound, sentence.Of("get.no-program"))
		return
	}
	name := "muster"
	if r.Method == http.MethodPost {
		link, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxLink))
		to, wrong := invite.Parse(strings.TrimSpace(string(link)), "")
		if err := errors.Join(err, wrong); err != nil {
			fail(w, r, http.StatusBadRequest, sentence.Of("get.no-link"))
			return
		}
		name = cmp.Or(to.FileName(), name)
	}
	done, isOwn := h.giving.begin(visitorAt(r))
	if done == nil {
		w.Header().Set("Retry-After", "10")
		if isOwn {
			fail(w, r, http.StatusTooManyRequests, sentence.Of("get.network-busy"))
		} else {
			fail(w, r, http.StatusServiceUnavailable, sentence.Of("get.busy", "n", atOnce))
		}
		return
	}
	defer done()
	line, until := http.NewResponseController(w), time.Now().Add(arriveTime)
	line.SetReadDeadline(until) // otherwise the request would time out before the program is here
	line.SetWriteDeadline(until)
	w.Header().Set("Cache-Control", "no-store")
	if p == nil {
		var trouble sentence.Sentence
		if p, trouble = h.arrive(r.Context(), system); p == nil {
			fail(w, r, http.StatusBadGateway, trouble)
			return
		}
	}
	w = steadily(w)
	if isSignature {
		if p.signature == nil {
			fail(w, r, http.StatusNotFound, sentence.Of("get.no-signature"))
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

// attach makes the browser save the answer under a name.
func attach(w http.ResponseWriter, name string) {
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
}
