const SECONDS: Record<string, number> = { h: 3600, m: 60, s: 1 }
const DEFAULT = '24h'

/** `1h30m` in seconds. */
export function secondsOf(duration: string = DEFAULT): number {
  const parts = [...duration.matchAll(/(\d+)([hms])/g)]
  return parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * (SECONDS[unit ?? ''] ?? 0), 0)
}
