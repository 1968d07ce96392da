package home

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"muster/internal/invite"
	"muster/internal/userfile"
)

// Instance is the one Home of a user.
type Instance struct {
	lock *flock.Flock
	file string
}

// Running is a Home that another start of the user's program has opened.
type Running struct {
	URL string `json:"url"`
	Key string `json:"key"`
}

// Claim makes this program the user's one Home. If there is one already, it returns that and no
// instance. Only the user can access the folder.
func Claim(ctx context.Context, folder string) (*Instance, *Running, error) {
	i := &Instance{lock: flock.New(filepath.Join(folder, "home.lock"), flock.SetPermissions(0o600)),
		file: filepath.Join(folder, "home.json")}
	for {
		isFirst, err := i.lock.TryLock()
		if err != nil {
			return nil, nil, fmt.Errorf("home: cannot lock: %w", err)
		}
		if isFirst {
			return i, nil, os.RemoveAll(i.file) // left by one that was killed
		}
		if other, err := read(i.file); err == nil {
			return nil, other, nil
		}
		select { // it is just starting or ending
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		case <-time.After(lookAgain):
		}
	}
}

// lookAgain is the pause between two looks at a Home that is starting or ending.
const lookAgain = 50 * time.Millisecond

func read(file string) (*Running, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	r := &Running{}
	return r, json.Unmarshal(data, r)
}

// Publish writes down where Home is, for the user's next start.
func (i *Instance) Publish(r Running) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return userfile.Replace(i.file, data)
}

// Release lets the next start become Home.
func (i *Instance) Release() error {
	return errors.Join(os.RemoveAll(i.file), i.lock.Unlock())
}

// Ticket returns a link that lets its first visitor into the running Home.
func (r *Running) Ticket(ctx context.Context) (string, error) {
	var path string
	if err := r.ask(ctx, "ticket", struct{}{}, &path); err != nil {
		return "", err
	}
	if !strings.HasPrefix(path, ticketPath) {
		return "", errors.New("home: the one that is running answers nonsense")
	}
	return r.URL + path, nil
}

// Invite asks the running Home to show an invitation.
func (r *Running) Invite(ctx context.Context, i Invitation) error {
	var nothing any
	return r.ask(ctx, "invite", i, &nothing)
}

// longestAnswer limits how much of the running Home's answer is read, in bytes.
const longestAnswer = 1 << 10

// ask sends a request to the running Home.
func (r *Running) ask(ctx context.Context, what string, body, answer any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL+"/api/"+what, bytes.NewReader(data))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+r.Key)
	request.Header.Set("Content-Type", "application/json")
	client := http.Client{Timeout: answerWithin,
		Transport: &http.Transport{DisableKeepAlives: true}} // bypasses any proxy of the environment
	reply, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("home: the one that is running does not answer: %w", err)
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		return fmt.Errorf("home: the one that is running says %s", reply.Status)
	}
	if err := json.NewDecoder(io.LimitReader(reply.Body, longestAnswer)).Decode(answer); err != nil {
		return fmt.Errorf("home: the one that is running answers nonsense: %w", err)
	}
	return nil
}

// Link returns a link into the running Home that works any number of times.
func (r *Running) Link() string { return r.URL + "/?key=" + r.Key }

// answerWithin is how long a running Home may take to answer.
const answerWithin = 5 * time.Second

// DefaultPort is Home's port unless another program has it. A fixed port matters because browsers
// store permissions, such as notifications, by address and port.
const DefaultPort = "7776"

// Listen opens loopback at a port or, if that is taken, at another.
func Listen(port string) (net.Listener, error) {
	listener, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", port))
	if err != nil {
		return net.Listen("tcp4", "127.0.0.1:0")
	}
	return listener, nil
}

// morePorts is how many ports after the usual one are tried for a room.
const morePorts = 10

// freeListen returns where a room on this machine listens: the usual port, or the next free one.
func freeListen() string {
	usual, _ := strconv.Atoi(invite.DefaultPort) // it is a number
	for port := usual; port < usual+morePorts; port++ {
		address := ":" + strconv.Itoa(port)
		if probe, err := net.Listen("tcp", address); err == nil {
			probe.Close()
			return address
		}
	}
	return ":0"
}

// secret returns a text that nobody can guess.
func secret() string { return rand.Text() }
