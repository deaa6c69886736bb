/**
 * Follows a request from its first line to the last byte of the answer: is it one request to everybody (head.ts), whose
 * host is it, who asks, may they (admit.ts), which page sent it, what goes on and what comes back (headers.ts), and the
 * line about it in the log. Requests and upgrades go the same way, and what an ingress asks about as well (consult.ts, in the words of
 * dialects.ts). What is open is watched (streams.ts), that somebody uses a workspace is written down (activity.ts), and who is not let on gets
 * a page that says why (notices.ts). Read receive.ts first.
 */
export { createActivity } from './activity.ts'
export { createConsultation } from './consult.ts'
export { createLinkAnswer } from './links.ts'
export { createReception } from './receive.ts'
export { createStreams } from './streams.ts'
