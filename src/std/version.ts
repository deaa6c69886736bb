/**
 * Versions of Berth that do not work together: more than one minor version apart, as Kubernetes has it for its own programs
 * (https://kubernetes.io/releases/version-skew-policy/). What is no version is not judged.
 */
export function areTooFarApart(one = '', other = ''): boolean {
  const [first, second] = [VERSION.exec(one), VERSION.exec(other)]
  if (!first || !second) return false
  return first[1] !== second[1] || Math.abs(Number(first[2]) - Number(second[2])) > 1
}

/** `0.1.0`, `v0.1.0` and `0.1.0-rc.1`. */
const VERSION = /^v?(\d{1,9})\.(\d{1,9})\./

/** For the remedies of those who find such a pair. */
export const VERSION_SKEW =
  'One minor version apart works: install the versions between them one after the other, kinds and programs together.'
