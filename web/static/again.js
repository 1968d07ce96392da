// Loads the page again if a part of it was lost: where the network changes, as from mobile
// data to Wi-Fi, browsers drop what they load, and the page would stay empty. It comes
// before all that, and alone.

{
  const kept = "loaded again";
  const most = 5; // times, one after the other
  const soonest = 500; // ms
  let isLost = false;
  let isGivenUp = false;

  /** Where it is counted how often; null in a browser that keeps nothing. @type {Storage | null} */
  let storage = null;
  try {
    storage = sessionStorage;
  } catch {
    // it could not count, and so loads nothing again
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
    true, // such errors do not bubble
  );
  addEventListener("load", () => {
    if (isGivenUp) document.body.append("A part of this page does not arrive. Look whether you are online, and load it again.");
    else if (!isLost) storage?.removeItem(kept);
  });
}
