package main

import (
	"maps"
	"sync"
	"time"

	"muster-discord/internal/discord"
)

// pace lets each of many do something so many times at once, and then once in a while.
type pace struct {
	atOnce int
	every  time.Duration

	mu sync.Mutex // guards full
	// full says when each person may act as often as at the beginning.
	full map[string]time.Time
}

// The people of a guild open so many rooms at once, whatever the limits of each. People make guilds easily, so they are
// no limit by themselves.
const roomsOfGuild, guildEvery = 64, time.Minute / 8

// maxPaced is how many are remembered before those that may do everything again are forgotten.
const maxPaced = 10_000

// isTooMuch reports whether somebody must wait.
func (p *pace) isTooMuch(who string, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.full) >= maxPaced {
		maps.DeleteFunc(p.full, func(_ string, full time.Time) bool { return full.Before(now) })
	}
	full := p.full[who]
	if full.Before(now) {
		full = now
	}
	if full.Sub(now) > time.Duration(p.atOnce-1)*p.every {
		return true
	}
	if p.full == nil {
		p.full = map[string]time.Time{}
	}
	p.full[who] = full.Add(p.every)
	return false
}

// book has the newest room of each channel. It is only in memory: cards have all that their buttons need.
type book struct {
	mu       sync.Mutex
	rooms    map[string]discord.Ref
	channels []string // in the order in which they came
}

// maxChannels bounds the book.
const maxChannels = 10_000

// note notes the room of a channel.
func (b *book) note(channel string, of discord.Ref) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, is := b.rooms[channel]; !is {
		if len(b.channels) == maxChannels {
			delete(b.rooms, b.channels[0])
			b.channels = b.channels[1:]
		}
		b.channels = append(b.channels, channel)
	}
	if b.rooms == nil {
		b.rooms = map[string]discord.Ref{}
	}
	b.rooms[channel] = of
}

// of returns the room of a channel.
func (b *book) of(channel string) (discord.Ref, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	of, is := b.rooms[channel]
	return of, is
}
