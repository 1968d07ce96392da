package game

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"muster/discovery"
	"muster/host/wire"
)

// nobodys is the address of nobody's server: templates are filled in with it on trial, and
// no game is started.
const nobodys = "192.0.2.1:1"

// Ready is why this machine cannot start a game, as far as that can be told before
// there is a server to go to: nil if it can, or if the player starts it. Errors are
// [*StartError]s, or say that the game or the way it starts is not known.
func (l *Launcher) Ready(ctx context.Context, id string) error {
	if l.Starts == StartNever {
		return nil
	}
	argv, _, _, err := l.fill(ctx, wire.Launch{Game: id, Address: nobodys})
	var unknown *UnknownError
	switch {
	case errors.As(err, &unknown):
		return fmt.Errorf("game: this muster does not know %s", discovery.CleanText(id))
	case err != nil:
		return err
	}
	if _, err := locate(argv[0]); err != nil {
		return &StartError{Program: argv[0], Err: err, OnFlathub: l.onFlathub(id)}
	}
	if scheme, isLink := linkOf(argv); isLink && !opens(ctx, scheme) {
		return &StartError{Program: scheme + "://", Err: errNoHandler}
	}
	return nil
}

// linkOf is the scheme of the link that a command has the system open, if it does.
func linkOf(argv []string) (scheme string, isLink bool) {
	scheme, _, isLink = strings.Cut(argv[len(argv)-1], "://")
	return scheme, isLink && argv[0] == opener(runtime.GOOS)[0]
}

// Here is the program that starts the game, and whether it is on this machine. Of a game
// that a link starts it is the one that opens such links.
func (g Game) Here() (program string, isHere bool) {
	template := g.Template(runtime.GOOS)
	if len(template) == 0 {
		return "", false
	}
	if scheme, _, isLink := strings.Cut(template[len(template)-1], "://"); isLink {
		return scheme, hasOpener(scheme)
	}
	_, err := locate(template[0])
	return template[0], err == nil || errors.Is(err, exec.ErrDot)
}

// onFlathub is the game's id on Flathub, empty if it has none, or if the player has said
// how it starts.
func (l *Launcher) onFlathub(id string) string {
	g, err := l.Games.Find(id)
	if err != nil || l.Command != "" || runtime.GOOS != "linux" || len(g.Flatpak) == 0 {
		return ""
	}
	return g.Flatpak[0]
}

// errNoHandler is why a link starts nothing.
var errNoHandler = errors.New("nothing on this machine opens such links")

// locate is the path of a program: where the system looks, or else where games mostly
// are.
func locate(program string) (string, error) {
	path, err := exec.LookPath(program)
	if err == nil || strings.ContainsAny(program, `/\`) {
		return path, err
	}
	for _, place := range usual(program) {
		if path, err := exec.LookPath(place); err == nil {
			return path, nil
		}
	}
	return "", err
}

// settleTime is how long a game that has been started may take to say by its end that it
// does not start: one without its files, or a link that nothing opens, ends at once.
const settleTime = 2 * time.Second

// settles waits for what was started to go wrong.
func settles(ctx context.Context, ended <-chan error, patience time.Duration) error {
	wait := time.NewTimer(patience)
	defer wait.Stop()
	select {
	case err := <-ended:
		return err
	case <-wait.C:
	case <-ctx.Done():
	}
	return nil
}
