/**
 * Webhooks: a Git server says that something was pushed, and the polls of that project look at once.
 * GitHub's, GitLab's and Gitea's ways to sign are understood, and a plain HMAC (`X-Berth-Signature: sha256=<hex>`).
 * Nothing in the body is believed, and it is not even parsed before the signature is checked. Read receive.ts first.
 */
export { receiveWebhooks } from './receive.ts'
