// What Prometheus and Alertmanager answer, as far as gates read it.

import { z } from 'zod'

const sample = z.tuple([z.number(), z.string()])

export const prometheusAnswerSchema = z.object({
  status: z.enum(['success', 'error']),
  errorType: z.string().optional(),
  error: z.string().optional(),
  data: z
    .discriminatedUnion('resultType', [
      z.object({
        resultType: z.literal('vector'),
        result: z.array(z.object({ metric: z.record(z.string(), z.string()), value: sample })),
      }),
      z.object({ resultType: z.literal('scalar'), result: sample }),
      z.object({ resultType: z.enum(['matrix', 'string']), result: z.unknown() }),
    ])
    .optional(),
})

export const alertsSchema = z.array(z.object({ labels: z.record(z.string(), z.string()) }))
