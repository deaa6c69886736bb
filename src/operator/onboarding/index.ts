/**
 * Onboarding: a namespace that a platform engineer labels gets its Environments and claims made in advance.
 * Made once, then they are the team's: what the team changes or deletes stays changed or deleted.
 * Read reconcile.ts (the story), then desired.ts (what is made, and of which class).
 */
export { onboarding } from './controller.ts'
