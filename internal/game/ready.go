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

// nobodys is a documentation address, used to test templates. No game is started with it.
const nobodys = "192.0.2.1:1"

// Ready returns why this machine cannot start a game, if that is known without a server. It is nil if the game
// can start, or if the player starts it. Errors are [*StartError]s, or say that the game or its way of starting is
// unknown.
func (l *Launcher) Ready(ctx context.Context, id string) error {
	if l.Starts == StartNever {
		return nil
	}
	argv, _, _, err := l.fill(ctx, wire.Launch{Game: id, Address: nobodys})
	var unknown *UnknownError
	switch {
	case errors.As(err, &unknown):
		return fmt.Errorf("game: this muster does not know %s", discovery.CleanText(id))
	case errors.Is(err, errNoTemplate):
		return nil
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

// linkOf returns the scheme of the link that a command opens, if it opens one.
func linkOf(argv []string) (scheme string, isLink bool) {
	scheme, _, isLink = strings.Cut(argv[len(argv)-1], "://")
	return scheme, isLink && argv[0] == opener(runtime.GOOS)[0]
}

// Here returns the program that starts the game, and whether it is on this machine. If the game starts by a link, it is
// the link's handler.
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

// onFlathub returns the game's id on Flathub. It is empty if the game is not there, or if the player has a command of
// their own.
func (l *Launcher) onFlathub(id string) string {
	g, err := l.Games.Find(id)
	if err != nil || l.Command != "" || runtime.GOOS != "linux" || len(g.Flatpak) == 0 {
		return ""
	}
	return g.Flatpak[0]
}

// errNoHandler is why a link starts nothing.
var errNoHandler = errors.New("nothing on this machine opens such links")

// locate returns the path of a program that starts a game: from the system's path, or else from where games usually are.
func locate(program string) (string, error) {
	if inSandbox() && program != opener(runtime.GOOS)[0] {
		return locateOutside(program, isThere)
	}
	return locateHere(program)
}

// locateHere is locate for a program that runs wherever Muster does.
func locateHere(program string) (string, error) {
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

// settleTime is how long a started game may take to fail. A game without its files, or a link without a handler, ends
// at once.
const settleTime = 2 * time.Second

// settles waits to see whether what was started fails.
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
