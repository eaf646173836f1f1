{{/* A tag, or the very image where a digest is given. */}}
{{- define "slipway.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ printf "%s@%s" .repository .digest | quote }}
{{- else -}}
{{ printf "%s:%s" .repository (default $.Chart.AppVersion .tag) | quote }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* By these the operator knows its own pods. */}}
{{- define "slipway.operatorLabels" -}}
app.kubernetes.io/name: slipway
app.kubernetes.io/component: operator
{{- end -}}

{{- define "slipway.agentLabels" -}}
app.kubernetes.io/name: slipway
app.kubernetes.io/component: agent
{{- end -}}

{{- define "slipway.pullSecrets" -}}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . | quote }}
  {{- end }}
{{- end }}
{{- end -}}
