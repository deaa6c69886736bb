import { createHash } from 'node:crypto'

export { workspaceObjectName as objectNameOf } from '../../../api/index.ts'

export const digest = (text: string): string => createHash('sha256').update(text).digest('hex')
