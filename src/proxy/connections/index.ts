/**
 * Who is connected to what, told to the ConfigMap `berth-proxy-connections`, a key for each proxy: for platform engineers, by kubectl
 * and by the dashboard. Read roll.ts.
 */
export { CONNECTIONS, keepRoll } from './roll.ts'
