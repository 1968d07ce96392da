package wire

import (
	"cmp"
	"net/netip"
	"net/url"
	"path"
	"strings"

	"muster/discovery/sentence"
)

// WebhookKey and NoLinkKey are the settings of hosts that post announcements.
const WebhookKey, NoLinkKey = "webhook", "webhook_no_link"

// maxWebhook is the longest URL of a webhook, in bytes; Discord's have 130.
const maxWebhook = 1024

// PlainWebhook stands before the URL of a webhook that receives an [Announcement] as it is,
// whatever its host.
const PlainWebhook = "json+"

// ErrWebhook is the error for a text that is no webhook. It does not contain the text, because that
// may be a webhook with a typing error, and a webhook is a secret.
var ErrWebhook = impossible("refused.webhook")

// CheckWebhook returns [ErrWebhook] for an invalid webhook. A webhook must use https, unless it leads
// to this machine itself.
func CheckWebhook(text string) error {
	u, err := url.Parse(strings.TrimPrefix(text, PlainWebhook))
	switch {
	case err != nil, len(text) > maxWebhook, u.Host == "", u.User != nil:
		return ErrWebhook
	case u.Scheme == "https", u.Scheme == "http" && isThisMachine(u.Hostname()):
		return nil
	}
	return ErrWebhook
}

func isThisMachine(host string) bool {
	addr, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && addr.IsLoopback()
}

// IsSameWebhook reports whether two webhooks lead to the same receiver, however they are written.
func IsSameWebhook(a, b string) bool {
	return receiver(a) == receiver(b)
}

// receiver returns where a webhook leads, without what only its receiver reads.
func receiver(webhook string) string {
	u, err := url.Parse(strings.TrimPrefix(webhook, PlainWebhook))
	if err != nil {
		return webhook
	}
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	return u.Scheme + "://" + strings.TrimSuffix(strings.ToLower(u.Hostname()), ".") + ":" + port + "/" + strings.Trim(path.Clean(u.Path), "/.")
}

// IsDiscord reports whether a webhook expects Discord's format.
func IsDiscord(webhook string) bool {
	u, err := url.Parse(webhook) // a URL with the prefix has none of these hosts
	if err != nil || u.Scheme != "https" {
		return false
	}
	host := strings.ToLower(u.Hostname())
	return host == "discord.com" || host == "discordapp.com" || strings.HasSuffix(host, ".discord.com")
}

// WebhookOf names the place where a webhook posts, without the URL.
func WebhookOf(webhook string) sentence.Sentence {
	if IsDiscord(webhook) {
		return sentence.Of("settings.webhook-discord")
	}
	return sentence.Of("settings.webhook-other")
}
