package discord

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"muster/host/keyfile"
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

const discordAPI = "https://discord.com/api/v10"

// ReadConfig reads the file of an application. An error names the lines, and no secret.
//
//	# from discord.com/developers/applications, General Information
//	application 1234567890123456789
//	public-key  3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29
//	# your own, the same on each host
//	secret      9f2c8e61b7d04a35a1e0
func ReadConfig(from io.Reader) (c Config, err error) {
	c.API = discordAPI
	has := map[string]bool{}
	err = keyfile.EachLine(from, func(words []string) error {
		if len(words) != 2 || has[words[0]] {
			return errors.New("say a word and its value, each word once")
		}
		has[words[0]] = true
		return c.set(words[0], words[1])
	})
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
		if len(value) < keyfile.Min {
			return fmt.Errorf("the secret has %d signs, and %d are the least", len(value), keyfile.Min)
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
