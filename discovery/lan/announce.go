package lan

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"time"

	"github.com/hashicorp/mdns"
)

const (
	// lookEvery is how often network cards are looked for that came or went.
	lookEvery = 2 * time.Second
	// tellEvery is how often at most a room is multicast unasked, and how far
	// apart a change is told (RFC 6762, sections 6 and 8.3).
	tellEvery = time.Second
	// tellTimes is how often a change is told: a packet may get lost.
	tellTimes = 2
)

// Announce announces a room on every suitable network card until the context
// ends or the channel is closed, and then takes it back. The channel brings the
// room, and again whenever it has changed; nothing is announced before. Cards
// that come and go are followed. Nobody takes from the channel once Announce
// has returned: whoever sends must look to the context as well.
//
// The error says that a room cannot be announced at all. A network card that
// does not work is logged and tried again.
func Announce(ctx context.Context, rooms <-chan Room, log *slog.Logger) error {
	a := &announcer{id: newID(), log: log, asked: make(chan struct{}, 1)}
	defer a.close()
	look, tell := time.NewTicker(lookEvery), time.NewTicker(tellEvery)
	defer look.Stop()
	defer tell.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case room, isOpen := <-rooms:
			if !isOpen {
				return nil
			}
			if err := a.update(room); err != nil {
				return err
			}
		case <-look.C:
			a.follow()
		case <-a.asked:
			a.untold = max(a.untold, 1)
		case <-tell.C:
			a.tell()
		}
	}
}

// newID tells this announcement from all others, and says nothing else.
func newID() string {
	var b [6]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// announcer announces one room.
type announcer struct {
	id   string
	log  *slog.Logger
	room Room // its port is 0 before there is one
	// responders answer, one a network card.
	responders []*responder
	// asked is sent to when a responder has answered.
	asked chan struct{}
	// untold is how often the room is still to be multicast.
	untold int
}

// update changes what is announced.
func (a *announcer) update(room Room) error {
	if room.Port == 0 {
		return fmt.Errorf("lan: a room without a port cannot be announced")
	}
	a.room = room
	for _, r := range a.responders {
		if err := r.set(a.id, room); err != nil {
			return err
		}
	}
	a.untold = tellTimes
	a.follow()
	return nil
}

// follow starts responders on cards that have come, and ends those of cards
// that have gone or have other addresses.
func (a *announcer) follow() {
	if a.room.Port == 0 {
		return
	}
	all, err := Interfaces()
	if err != nil {
		a.log.Warn("cannot look for network cards", "err", err)
		return
	}
	cards := used(all)
	a.responders = slices.DeleteFunc(a.responders, func(r *responder) bool {
		gone := !slices.ContainsFunc(cards, r.serves)
		if gone {
			a.log.Debug("a network card is gone", "card", r.on.Name)
			r.server.Shutdown()
		}
		return gone
	})
	for _, card := range cards {
		if !slices.ContainsFunc(a.responders, func(r *responder) bool { return r.serves(card) }) {
			a.start(card)
		}
	}
}

func (a *announcer) start(card Interface) {
	r, err := respond(card, a.id, a.room, a.asked, a.log)
	if err != nil {
		a.log.Debug("cannot announce on a network card", "card", card.Name, "err", err)
		return
	}
	a.log.Debug("announcing a room", "card", card.Name, "addrs", card.announced())
	a.responders = append(a.responders, r)
	a.untold = tellTimes
}

// tell multicasts the room, if there is something to tell. The DNS library
// answers the asker alone: this is for those whom such an answer does not
// reach, because a firewall or another program on the machine is in its way.
func (a *announcer) tell() {
	if a.untold == 0 {
		return
	}
	a.untold--
	for _, r := range a.responders {
		r.on.multicast(announcement(r.zone), a.log)
	}
}

// close takes the room back, everywhere under each of its names: systems hand a
// question to the responders of all cards, whichever it came in on.
func (a *announcer) close() {
	var zones []*zone
	for _, r := range a.responders {
		r.server.Shutdown()
		zones = append(zones, r.zone)
	}
	for _, r := range a.responders {
		r.on.multicast(goodbye(zones), a.log)
	}
}

// responder answers questions about a room on one network card.
type responder struct {
	on     Interface
	zone   *zone
	server *mdns.Server
}

func respond(on Interface, id string, room Room, asked chan<- struct{}, log *slog.Logger) (*responder, error) {
	r := &responder{on: on, zone: &zone{asked: asked}}
	if err := r.set(id, room); err != nil {
		return nil, err
	}
	var err error
	r.server, err = mdns.NewServer(&mdns.Config{Zone: r.zone, Iface: &r.on.card, Logger: quiet(log)})
	return r, err
}

// set changes what is answered. The name is the card's own: it stands for the
// addresses that hold there.
func (r *responder) set(id string, room Room) error {
	instance := fmt.Sprintf("muster-%s-%d", id, r.on.card.Index)
	s, err := mdns.NewMDNSService(instance, service, "local.", instance+".local.", int(room.Port), r.on.announced(), appendTXT(nil, id, room))
	if err != nil {
		return fmt.Errorf("lan: cannot announce the room: %w", err)
	}
	r.zone.service.Store(s)
	return nil
}

// serves reports whether the responder does for the card as it is now.
func (r *responder) serves(card Interface) bool {
	return r.on.card.Index == card.card.Index && r.on.Name == card.Name &&
		slices.EqualFunc(r.on.announced(), card.announced(), net.IP.Equal)
}
