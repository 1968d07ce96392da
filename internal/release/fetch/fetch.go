// Package fetch gets files of one of the project's releases, and lets nobody have any
// that is not what the project signed.
//
//	PAGE/download/v1.2.0/SHA256SUMS, .minisig   is that list the project's?
//	                     FILE.minisig, FILE     then the file, no larger than any can be
//	          │
//	          ▼  both signatures and the sum hold
//	FOLDER/FILE/                                 kept, and held against them at each use
//
// It goes to the address that it was given and where that redirects to, encrypted and
// on the internet, and to nothing in a private network.
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

// Source is where a release has its files.
type Source struct {
	// Page is the address of the project's releases, such as
	// https://github.com/OWNER/muster/releases. It may be http on loopback.
	Page string
	// Version is the release's.
	Version string
	// Keys are those whose signatures count.
	Keys release.Keys
	// Folder is the user's, for what was got. Nothing else is in it.
	Folder string

	patience time.Duration // of tests; 0 is stalled
}

var (
	// ErrAway is that the release page is not reached.
	ErrAway = errors.New("the release page is not reached")
	// ErrNone is that the release does not have the file.
	ErrNone = errors.New("the project's releases do not have it")
	// ErrWrong is that what came is not what the project signed.
	ErrWrong = errors.New("what came is not what the project signed")
)

const (
	// maxFile is more than a program has, which are 27 MB, and 55 of both of macOS' processors.
	maxFile = 160 << 20
	// maxProof is more than a signature or a list of sums has, in bytes.
	maxProof = 64 << 10
	// fetchTime is for all of a file: 55 MB over 1.5 Mbit/s.
	fetchTime = 5 * time.Minute
	// stalled is after how long without a byte nothing more is expected.
	stalled = 20 * time.Second
	// forgotten is when a part is of a program that ended before it was whole.
	forgotten = time.Hour
	// newest stands for the version of the newest release until that is known.
	newest = "newest"
	// partName begins the names of folders in which something arrives.
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

// URL is where a file of a version is, for people and programs; without a version, that
// of the newest release.
func URL(page, version, file string) string {
	from := "/latest/download/"
	if version != "" {
		from = "/download/v" + url.PathEscape(version) + "/"
	}
	return strings.TrimSuffix(page, "/") + from + url.PathEscape(file)
}

// Get gets a file, from the folder if it is there. It tells arrives how many bytes of the
// file have come, and of how many, 0 if that is not known. What it returns is open.
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
	defer os.RemoveAll(part) // unless it has another name by then
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	if err := s.bring(ctx, part, file, arrives); err != nil {
		return nil, release.Verdict{}, err
	}
	data, _, err := s.open(ctx, part, file)
	if err != nil {
		return nil, release.Verdict{}, err
	}
	data.Close() // or Windows would not let it be renamed
	if err := errors.Join(os.RemoveAll(at), os.Rename(part, at)); err != nil {
		return nil, release.Verdict{}, err
	}
	return s.open(ctx, at, file)
}

// open opens a file that lies in a folder with its proofs, if they hold.
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

// tidy takes away what other versions and interrupted programs have left.
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

// bring gets a file and what proves it. The list of sums comes first, so that one that
// is not the project's costs nobody a download.
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

// sums gets the list of sums, if it is the project's.
func (s Source) sums(ctx context.Context, client *http.Client, folder string) (release.Verdict, error) {
	for _, name := range []string{release.SumsName, release.SumsName + release.SignatureEnding} {
		if err := s.download(ctx, client, name, folder, maxProof, nobody); err != nil {
			return release.Verdict{}, err
		}
	}
	return s.listed(ctx, folder, release.SumsName)
}

// listed says what the project says of a file in a folder with its list of sums. It is
// an error if it has not signed that under this name.
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

// Newest gets small files of the newest release into a folder that is empty, each as
// the project's list of sums has it, and says of which release they are. Version and
// Folder of the source do not matter. No file may have more than so many bytes.
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

// download gets one file into a folder.
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

// counter tells how much has come.
type counter struct {
	got, of int64
	arrives func(got, of int64)
}

func (c *counter) Write(p []byte) (int, error) {
	c.got += int64(len(p))
	c.arrives(c.got, c.of)
	return len(p), nil
}
