// Package fetch downloads files of one of the project's releases, and delivers nothing that the project did not sign.
//
//	PAGE/download/v1.2.0/SHA256SUMS, .minisig   is that list the project's?
//	                     FILE.minisig, FILE     then the file, no larger than any can be
//	          │
//	          ▼  both signatures and the sum hold
//	FOLDER/FILE/                                 kept, and verified again at each use
//
// It connects to the given address and its redirects, over TLS and on the internet, never to a private network.
package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"muster/internal/release"
)

// Source says where a release has its files.
type Source struct {
	// Page is the address of the project's releases, such as https://github.com/OWNER/muster/releases. It may be http
	// on loopback.
	Page string
	// Version is the release's.
	Version string
	// Keys are those whose signatures count.
	Keys release.Keys
	// Folder is the user's, and keeps only downloads.
	Folder string

	patience time.Duration // for tests; 0 means stalled
}

var (
	// ErrAway says that the release page cannot be reached.
	ErrAway = errors.New("the release page is not reached")
	// ErrNone says that the release does not have the file.
	ErrNone = errors.New("the project's releases do not have it")
	// ErrWrong says that the download is not what the project signed.
	ErrWrong = errors.New("what came is not what the project signed")
)

const (
	// maxFile exceeds a program, which has 27 MB, or 55 for both of macOS' processors.
	maxFile = 160 << 20
	// maxProof exceeds a signature or a list of sums, in bytes.
	maxProof = 64 << 10
	// fetchTime bounds a whole download: 55 MB over 1.5 Mbit/s.
	fetchTime = 5 * time.Minute
	// stalled is how long a download may go without a byte.
	stalled = 20 * time.Second
	// forgotten is the age at which a partial download belongs to a program that has died.
	forgotten = time.Hour
	// newest stands for the newest release's version until that is known.
	newest = "newest"
	// partName begins the names of folders for partial downloads.
	partName = "part-"
)

// Check says what is wrong with the address of releases.
func Check(page string) error {
	u, err := url.Parse(page)
	switch {
	case err != nil, u.Host == "", u.User != nil, u.RawQuery != "", u.Fragment != "":
		return fmt.Errorf("%q is no address of releases", page)
	case u.Scheme != "https" && !(u.Scheme == "http" && isLoopback(u)):
		return fmt.Errorf("%q is not encrypted: an address of releases begins with https://", page)
	}
	return nil
}

// URL returns the address of a version's file, for people and programs. Without a version it is the newest release's.
func URL(page, version, file string) string {
	from := "/latest/download/"
	if version != "" {
		from = "/download/v" + url.PathEscape(version) + "/"
	}
	return strings.TrimSuffix(page, "/") + from + url.PathEscape(file)
}

// Get returns an open file, from the folder if it is there. While it downloads, it calls arrives with the bytes
// received and the total, 0 if unknown.
func (s Source) Get(ctx context.Context, file string, arrives func(got, of int64)) (*os.File, release.Verdict, error) {
	at := filepath.Join(s.Folder, file)
	if data, v, err := s.open(ctx, at, file); err == nil {
		return data, v, nil
	}
	if err := cmp.Or(Check(s.Page), os.MkdirAll(s.Folder, 0o700)); err != nil {
		return nil, release.Verdict{}, err
	}
	s.tidy()
	part, err := os.MkdirTemp(s.Folder, partName)
	if err != nil {
		return nil, release.Verdict{}, err
	}
	defer os.RemoveAll(part) // unless it has been renamed by then
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	if err := s.bring(ctx, part, file, arrives); err != nil {
		return nil, release.Verdict{}, err
	}
	data, _, err := s.open(ctx, part, file)
	if err != nil {
		return nil, release.Verdict{}, err
	}
	data.Close() // otherwise Windows would refuse to rename it
	if err := errors.Join(os.RemoveAll(at), os.Rename(part, at)); err != nil {
		return nil, release.Verdict{}, err
	}
	return s.open(ctx, at, file)
}

// open opens a file that lies in a folder with valid proofs.
func (s Source) open(ctx context.Context, folder, file string) (*os.File, release.Verdict, error) {
	data, err := os.Open(filepath.Join(folder, file))
	if err != nil {
		return nil, release.Verdict{}, err
	}
	v, err := s.Keys.VerifyBoth(ctx, data, filepath.Join(folder, file), s.Version)
	if err == nil && v.Standing != release.Own {
		err = fmt.Errorf("%w: %s: %s", ErrWrong, file, cmp.Or(v.Why, v.String()))
	}
	if err != nil {
		data.Close()
		return nil, release.Verdict{}, err
	}
	return data, v, nil
}

// tidy removes what other versions and interrupted programs have left.
func (s Source) tidy() {
	entries, err := os.ReadDir(s.Folder)
	if err != nil {
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		isOld := strings.HasPrefix(e.Name(), "muster_") && !strings.HasPrefix(e.Name(), "muster_"+s.Version+"_")
		if isOld || err == nil && strings.HasPrefix(e.Name(), partName) && time.Since(info.ModTime()) > forgotten {
			os.RemoveAll(filepath.Join(s.Folder, e.Name()))
		}
	}
}

// bring downloads a file and its proofs. The list of sums comes first, so that a wrong list costs nobody a download.
func (s Source) bring(ctx context.Context, folder, file string, arrives func(got, of int64)) error {
	client, err := newClient(s.Page)
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	v, err := s.sums(ctx, client, folder)
	if err != nil {
		return err
	}
	if v.Version != s.Version {
		return fmt.Errorf("%w: %s is of Muster %s", ErrWrong, release.SumsName, v.Version)
	}
	if err := s.download(ctx, client, file+release.SignatureEnding, folder, maxProof, nobody); err != nil {
		return err
	}
	return s.download(ctx, client, file, folder, maxFile, arrives)
}

func nobody(_, _ int64) {}

// sums downloads the list of sums, and verifies that it is the project's.
func (s Source) sums(ctx context.Context, client *http.Client, folder string) (release.Verdict, error) {
	for _, name := range []string{release.SumsName, release.SumsName + release.SignatureEnding} {
		if err := s.download(ctx, client, name, folder, maxProof, nobody); err != nil {
			return release.Verdict{}, err
		}
	}
	return s.listed(ctx, folder, release.SumsName)
}

// listed returns what the project's list of sums in a folder says of a file. It fails unless the project signed the
// file under this name.
func (s Source) listed(ctx context.Context, folder, name string) (release.Verdict, error) {
	v, err := s.Keys.Verify(ctx, filepath.Join(folder, name))
	switch {
	case err != nil:
		return v, err
	case v.Standing != release.Own:
		return v, fmt.Errorf("%w: %s: %s", ErrWrong, name, cmp.Or(v.Why, v.String()))
	case v.File != name:
		return v, fmt.Errorf("%w: %s: it is %s", ErrWrong, name, v.File)
	}
	return v, nil
}

// Newest downloads small files of the newest release into an empty folder, each as in the project's list of sums, and
// returns their release. It ignores the source's Version and Folder. most bounds each file, in bytes.
func (s Source) Newest(ctx context.Context, folder string, files []string, most int64) (release.Verdict, error) {
	if err := Check(s.Page); err != nil {
		return release.Verdict{}, err
	}
	client, err := newClient(s.Page)
	if err != nil {
		return release.Verdict{}, err
	}
	defer client.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	s.Version = ""
	of, err := s.sums(ctx, client, folder)
	for _, name := range files {
		if err == nil {
			err = s.download(ctx, client, name, folder, most, nobody)
		}
		if err == nil {
			_, err = s.listed(ctx, folder, name)
		}
	}
	return of, err
}

// download downloads one file into a folder.
func (s Source) download(ctx context.Context, client *http.Client, name, folder string, most int64, arrives func(got, of int64)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	patience := cmp.Or(s.patience, stalled)
	stop := time.AfterFunc(patience, func() { cancel(errStalled) })
	defer stop.Stop()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, URL(s.Page, s.Version, name), nil)
	if err != nil {
		return err
	}
	request.Header.Set("User-Agent", "Muster/"+cmp.Or(s.Version, newest))
	answer, err := client.Do(request)
	if err != nil {
		return reason(ctx, err)
	}
	defer answer.Body.Close()
	switch {
	case answer.StatusCode == http.StatusNotFound:
		return fmt.Errorf("%w: %s of Muster %s", ErrNone, name, cmp.Or(s.Version, newest))
	case answer.StatusCode != http.StatusOK:
		return fmt.Errorf("%w: it answers %d %s", ErrAway, answer.StatusCode, http.StatusText(answer.StatusCode))
	case answer.ContentLength > most:
		return fmt.Errorf("%w: %s has %d KB", ErrWrong, name, answer.ContentLength>>10)
	}
	file, err := os.OpenFile(filepath.Join(folder, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	counted := &counter{of: max(0, answer.ContentLength), arrives: func(got, of int64) {
		stop.Reset(patience)
		arrives(got, of)
	}}
	n, err := io.Copy(io.MultiWriter(file, counted), io.LimitReader(answer.Body, most+1))
	err2 := file.Close()
	switch {
	case err != nil:
		return reason(ctx, err)
	case err2 != nil:
		return err2
	case n > most:
		return fmt.Errorf("%w: %s has more than %d KB", ErrWrong, name, most>>10)
	}
	return nil
}

// counter reports how much has arrived.
type counter struct {
	got, of int64
	arrives func(got, of int64)
}

func (c *counter) Write(p []byte) (int, error) {
	c.got += int64(len(p))
	c.arrives(c.got, c.of)
	return len(p), nil
}
