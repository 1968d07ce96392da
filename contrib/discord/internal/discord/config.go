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

// Config is what the program's file says. Nothing in it lets anybody act as the application at Discord.
type Config struct {
	// Host is where people reach the host of Muster, nil if the file does not say it.
	Host *url.URL
	// Key is the key of a league at that host, empty without one.
	Key string
	// Application is the application's id.
	Application string
	PublicKey   ed25519.PublicKey
	// API is where Discord is asked to edit cards.
	API string
	// sealing is the key that seals the organiser's credentials in buttons, see [Config.Seal].
	sealing [sha256.Size]byte
}

const discordAPI = "https://discord.com/api/v10"

// minSecret is the least length of a key or secret, in bytes: nobody guesses so many.
const minSecret = 20

// ReadConfig reads the program's file. Its error names the line, and no secret.
//
//	host        https://muster.example
//	# from discord.com/developers/applications, General Information
//	application 1234567890123456789
//	public-key  3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29
//	# your own, the same on each host
//	secret      9f2c8e61b7d04a35a1e0
func ReadConfig(from io.Reader) (c Config, err error) {
	c.API = discordAPI
	has := map[string]bool{}
	lines := bufio.NewScanner(from)
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		words := strings.Fields(text)
		switch {
		case len(words) == 0:
			continue
		case len(words) != 2 || has[words[0]]:
			err = errors.New("say a word and its value, each word once")
		default:
			has[words[0]] = true
			err = c.set(words[0], words[1])
		}
		if err != nil {
			return c, fmt.Errorf("line %d: %w", n, err)
		}
	}
	err = lines.Err()
	for _, word := range []string{"application", "public-key", "secret"} {
		if !has[word] && err == nil {
			err = fmt.Errorf("there is no line with %s", word)
		}
	}
	return c, err
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
		if len(value) < minSecret {
			return fmt.Errorf("the secret has %d signs, and %d are the least", len(value), minSecret)
		}
		c.sealing = sha256.Sum256([]byte("seals the organisers of rooms in Discord: " + value))
	case "key":
		c.Key = value
	case "host":
		host, err := ParseHost(value)
		c.Host = host
		return err
	case "api":
		if !isURL(value) {
			return errors.New("the API is a URL")
		}
		c.API = strings.TrimSuffix(value, "/")
	default:
		return fmt.Errorf("%q is none of host, key, application, public-key and secret", word)
	}
	return nil
}

// ParseHost reads where people reach a host.
func ParseHost(text string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSuffix(text, "/"))
	if err != nil || !isURL(text) || u.Path != "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("the host is a URL without a path, such as https://muster.example")
	}
	return u, nil
}

func isURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http")
}
