// Reloads the page if one of its files was lost. When the network changes, as from mobile data to
// Wi-Fi, browsers drop what they load, and the page would stay empty. This script loads before all
// others, and on its own.

{
  const kept = "loaded again";
  const most = 5; // times, one after the other
  const soonest = 500; // ms
  let isLost = false;
  let isGivenUp = false;

  /** Where the reloads are counted; null in a browser without storage. @type {Storage | null} */
  let storage = null;
  try {
    storage = sessionStorage;
  } catch {
    // It cannot count, and so reloads nothing.
  }
  const times = () => (storage ? Number(storage.getItem(kept)) : most);

  addEventListener(
    "error",
    ({ target }) => {
      if (isLost || !(target instanceof HTMLScriptElement || (target instanceof HTMLLinkElement && target.rel === "stylesheet"))) return;
      isLost = true;
      const before = times();
      isGivenUp = before >= most;
      if (isGivenUp) return;
      storage?.setItem(kept, String(before + 1));
      setTimeout(() => location.reload(), soonest * 2 ** before);
    },
    true, // these errors do not bubble
  );
  addEventListener("load", () => {
    // In English: the catalogue is among what may not arrive.
    if (isGivenUp) document.body.append("A part of this page does not arrive. Look whether you are online, and load it again.");
    else if (!isLost) storage?.removeItem(kept);
  });
}
