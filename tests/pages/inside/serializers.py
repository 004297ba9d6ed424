"""Further fields of a sign-up, of several kinds."""

from datetime import date

from rest_framework import serializers

stored = {}


class Extra(serializers.Serializer):
    birthday = serializers.DateField()
    size = serializers.ChoiceField([("s", "Small"), ("m", "Medium")])
    terms = serializers.BooleanField(default=False, label="I agree")
    shoes = serializers.IntegerField(required=False, allow_null=True)

    def update(self, user, values):
        stored.clear()
        stored.update(values)
        return user


__all__ = ["Extra", "date", "stored"]
