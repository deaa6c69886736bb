/**
 * What people find on the host for signing in once they have: the dashboard, which is a room of its own and knows no cookies. Read
 * front.ts.
 */
export { createFront } from './front.ts'
