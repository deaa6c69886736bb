/**
 * The operator: reconciles every kind of ours in the management cluster. Each room is one concern of one kind and knows
 * no other; they hand work to each other through objects. Read controllers.ts (the list), then a room's reconcile.ts.
 */
export { type OperatorConfig, parseConfig, SETTINGS } from './config.ts'
export { type OperatorSurroundings, start } from './program.ts'
