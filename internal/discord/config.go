package discord

import (
	"bufio"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
)

// Config is an application of Discord's, as its file says it. Nothing in it lets anybody act as the application.
type Config struct {
	// Application is the application's id.
	Application string
	PublicKey   ed25519.PublicKey
	// API is where Discord is asked to edit cards.
	API string
	// sealing is the key that seals the organiser's credentials in buttons, see [Config.Seal].
	sealing [sha256.Size]byte
}

const (
	discordAPI = "https://discord.com/api/v10"
	// leastSecret is the least length of the secret, in bytes: nobody guesses so many.
	leastSecret = 20
	longestFile = 16 << 10
)

// ReadConfig reads the file of an application. An error names the line, and no secret.
//
//	# from discord.com/developers/applications, General Information
//	application 1234567890123456789
//	public-key  3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29
//	# your own, the same on each host
//	secret      9f2c8e61b7d04a35a1e0
func ReadConfig(from io.Reader) (c Config, err error) {
	c.API = discordAPI
	lines, n, has := bufio.NewScanner(io.LimitReader(from, longestFile)), 0, map[string]bool{}
	for lines.Scan() {
		n++
		text, _, _ := strings.Cut(lines.Text(), "#")
		words := strings.Fields(text)
		if len(words) == 0 {
			continue
		}
		if len(words) != 2 || has[words[0]] {
			return c, fmt.Errorf("line %d: say a word and its value, each word once", n)
		}
		has[words[0]] = true
		if err := c.set(words[0], words[1]); err != nil {
			return c, fmt.Errorf("line %d: %w", n, err)
		}
	}
	for _, word := range []string{"application", "public-key", "secret"} {
		if !has[word] && lines.Err() == nil {
			return c, fmt.Errorf("there is no line with %s", word)
		}
	}
	return c, lines.Err()
}

func (c *Config) set(word, value string) error {
	switch word {
	case "application":
		if c.Application = value; !areIDs(value) {
			return errors.New("the application's id is a number")
		}
	case "public-key":
		key, err := hex.DecodeString(value)
		if err != nil || len(key) != ed25519.PublicKeySize {
			return fmt.Errorf("the public key has %d hexadecimal digits", 2*ed25519.PublicKeySize)
		}
		c.PublicKey = key
	case "secret":
		if len(value) < leastSecret {
			return fmt.Errorf("the secret has %d signs, and %d are the least", len(value), leastSecret)
		}
		c.sealing = sha256.Sum256([]byte("seals the organisers of rooms in Discord: " + value))
	case "api":
		u, err := url.Parse(value)
		if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
			return errors.New("the API is a URL")
		}
		c.API = strings.TrimSuffix(value, "/")
	default:
		return fmt.Errorf("%q is none of application, public-key and secret", word)
	}
	return nil
}
