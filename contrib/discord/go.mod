module muster-discord

go 1.26.0
