package cli

import (
	"cmp"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/thlib/go-timezone-local/tzlocal"

	"muster/discovery"
	"muster/host/schedule"
	"muster/host/wire"
	"muster/internal/game"
	"muster/internal/hint"
	"muster/internal/input"
	"muster/internal/userfile"
	"muster/selection"
)

// check turns the flags into settings, and loads the certificate.
func (h *hostCommand) check() (game.Game, error) {
	g, err := h.checkRoom()
	if err != nil {
		return g, err
	}
	_, port, err := net.SplitHostPort(h.listen)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil {
		return g, hint.With(usagef("--listen: %q is no ADDRESS:PORT", h.listen),
			"say --listen :7778, or --listen 192.0.2.1:7778 for one address of this machine")
	}
	return g, h.encrypt()
}

// checkRoom turns the flags into settings, wherever the room will be.
func (h *hostCommand) checkRoom() (game.Game, error) {
	g := game.Game{Rule: selection.Mean}
	if h.game != "" || !h.isOfPlaces() {
		var err error
		if g, err = h.findGame(h.game); err != nil {
			return g, err
		}
		h.warnSilent(g)
	} else if h.starts.command != "" {
		return g, hint.With(usagef("--start-command starts a server of a game, and none is said"), "say which: muster host GAME --where")
	}
	if err := needsLimit(h.settings.By, h.settings.Limits); err != nil {
		return g, err
	}
	h.settings.Game, h.settings.By = g.ID, cmp.Or(h.settings.By, g.Rule)
	if err := h.settings.Criteria().Check(nil); err != nil {
		return g, usageError(err)
	}
	if err := h.takeSecret("password", h.password); err != nil {
		return g, err
	}
	if err := h.takeMeeting(); err != nil {
		return g, err
	}
	if err := h.takeEvery(); err != nil {
		return g, err
	}
	if err := h.takeMatch(); err != nil {
		return g, err
	}
	if h.settings.Players < 0 {
		return g, usagef("--players %d is below 0", h.settings.Players)
	}
	if h.settings.Players > wire.MaxPlayers {
		return g, usagef("--players %d: a room is for at most %d", h.settings.Players, wire.MaxPlayers)
	}
	if err := h.starts.check(len(h.settings.Places) > 0 || h.settings.Seeks != ""); err != nil {
		return g, err
	}
	return g, h.playing.check(h.program)
}

// takeSecret reads a flag's value from where no other user of this machine can see it: the first
// line of a file, or the environment.
func (h *hostCommand) takeSecret(flag, file string) error {
	variable := h.env("MUSTER_" + strings.ToUpper(flag))
	switch {
	case file != "" && h.given(flag):
		return usagef("--%s and --%s-file say the same: give one of them", flag, flag)
	case file != "":
		first, err := input.FirstLine(file)
		if err == nil && first == "" {
			err = fmt.Errorf("the first line of %s is empty", discovery.CleanText(file))
		}
		if err != nil {
			return fmt.Errorf("cannot read the %s: %w", flag, err)
		}
		return h.give(flag, first)
	case !h.given(flag) && variable != "":
		return h.give(flag, variable)
	}
	return nil
}

// takeMeeting reads where the group talks.
func (h *hostCommand) takeMeeting() error {
	if err := h.takeSecret("webhook", h.webhook); err != nil {
		return err
	}
	if h.settings.Voice != "" {
		if err := wire.CheckVoice(h.settings.Voice); err != nil {
			return flagged(err, "such as --voice https://discord.gg/CODE, or leave it out")
		}
	}
	if h.settings.Webhook = strings.TrimSpace(h.settings.Webhook); h.settings.Webhook != "" {
		if err := wire.CheckWebhook(h.settings.Webhook); err != nil {
			return flagged(err, "such as --webhook https://discord.com/api/webhooks/…, better in a file: --webhook-file FILE")
		}
	}
	return nil
}

// takeMatch reads how the captains of a match decide.
func (h *hostCommand) takeMatch() error {
	for _, row := range wire.Table() {
		if row.Needs != "" && h.given(row.Flag) && !h.settings.IsMatch() {
			return hint.With(usagef("--%s is for a match of two sides", row.Flag), "add --match bo1, bo3 or bo5")
		}
	}
	if err := h.settings.CheckMatch(); err != nil {
		return usageError(err)
	}
	return nil
}

// flagged returns a usage error that begins with the name of the setting, which is also the flag's
// name.
func flagged(err error, todo string) error { return hint.With(usagef("--%w", err), todo) }

// encrypt loads the certificate if players connect by TLS.
func (h *hostCommand) encrypt() error {
	switch public := h.ingress.Public; {
	case (h.cert == "") != (h.key == ""):
		return usagef("--tls-cert and --tls-key go together")
	case h.tls && public != nil && public.Scheme != "https":
		return hint.With(usagef("--tls encrypts, but --public-url %v does not", public),
			"say https://, or leave out --tls where a proxy encrypts")
	case h.cert != "":
		return h.ingress.Encrypt(h.cert, h.key)
	case h.tls:
		file, err := userfile.State("certificate.pem")
		if err != nil {
			return hint.NoFolder("the certificate", err)
		}
		return h.ingress.EncryptByOwn(file)
	}
	return nil
}

// takeEvery reads when the group meets, in this machine's time zone unless the text names another, and
// says how it has understood the text.
func (h *hostCommand) takeEvery() error {
	if h.settings.Every == "" {
		return nil
	}
	zone, err := tzlocal.RuntimeTZ()
	if err != nil {
		zone = ""
	}
	when, err := schedule.Parse(h.settings.Every, zone)
	if err != nil {
		return hint.With(usagef("--every %q is no time to meet", h.settings.Every), err.Error())
	}
	if when.IsOver(time.Now()) {
		return hint.With(usagef("--every %q: %w", h.settings.Every, schedule.ErrOver),
			"say the next date, or a day of each week, as in \"fri 20:00\"")
	}
	h.settings.Every = when.String()
	h.screen.Say("%s", h.screen.Language.Say(when.Words()))
	return nil
}
