import { create } from '@bufbuild/protobuf'
import {
  type FetchDevfileRequest,
  FetchDevfileRequestSchema,
  type FetchDevfileResponse,
  FetchDevfileResponseSchema,
} from './generated/devfiles_pb.ts'

export const devfileAt = (url: string): FetchDevfileRequest => create(FetchDevfileRequestSchema, { url })

export const fetchedDevfile = (text: string): FetchDevfileResponse =>
  create(FetchDevfileResponseSchema, { content: Buffer.from(text, 'utf8') })
