/**
 * Follows a request from its first line to the last byte of the answer: is it one request to everybody (head.ts), whose
 * host is it, who asks, may they (admit.ts), which page sent it, what goes on and what comes back (headers.ts), and the
 * line about it in the log. Requests and upgrades go the same way, and what an ingress asks about as well (consult.ts, in the words of
 * dialects.ts). Read receive.ts first.
 */
export { createConsultation } from './consult.ts'
export { createReception } from './receive.ts'
