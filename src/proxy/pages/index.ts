/**
 * What people read when something is not as they wish: plain words, no script, and a number under which the log knows more. Read
 * notices.ts for the words, page.ts for how they reach a browser, or whatever else asks.
 */
export { notices } from './notices.ts'
export { say } from './page.ts'
