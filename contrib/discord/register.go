package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"muster-discord/internal/discord"
)

// register tells Discord of the application's commands, in all guilds or in one. Those that it had before are replaced.
// The bot's token is needed for that only, and no error contains it.
func register(ctx context.Context, c discord.Config, token, guild string, players int) error {
	body, err := json.Marshal(discord.Commands(players))
	if err != nil {
		return err
	}
	at := c.API + "/applications/" + url.PathEscape(c.Application)
	if guild != "" {
		at += "/guilds/" + url.PathEscape(guild)
	}
	var said bytes.Buffer
	status, _, err := send(ctx, http.MethodPut, at+"/commands", "Bot "+token, body, &said)
	switch {
	case err != nil:
		return fmt.Errorf("cannot reach Discord: %w", err)
	case status == http.StatusUnauthorized:
		return errors.New("the token is none that Discord knows: is it the bot's, from the page Bot of the application?")
	case status >= http.StatusBadRequest:
		return fmt.Errorf("the commands were not taken by Discord (%d): %.500q", status, said.String())
	}
	return nil
}
