package steam

import "golang.org/x/sys/windows/registry"

// registered returns where Steam's installer says that it is.
func registered() (folders []string) {
	for _, at := range []struct {
		root      registry.Key
		key, name string
	}{
		{registry.CURRENT_USER, `Software\Valve\Steam`, "SteamPath"},
		{registry.LOCAL_MACHINE, `SOFTWARE\WOW6432Node\Valve\Steam`, "InstallPath"},
		{registry.LOCAL_MACHINE, `SOFTWARE\Valve\Steam`, "InstallPath"},
	} {
		key, err := registry.OpenKey(at.root, at.key, registry.QUERY_VALUE)
		if err != nil {
			continue
		}
		if folder, _, err := key.GetStringValue(at.name); err == nil && folder != "" {
			folders = append(folders, folder)
		}
		key.Close()
	}
	return folders
}
