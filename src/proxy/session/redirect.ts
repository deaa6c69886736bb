import type { Reply } from '../ports.ts'

/** Nothing of it is kept, and where it came from is not told: addresses on the way hold tickets. */
export const redirect = (to: URL, cookies: readonly string[] = []): Reply => ({
  status: 303,
  headers: {
    location: to.href,
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    ...(cookies.length > 0 && { 'set-cookie': [...cookies] }),
  },
  body: '',
})
