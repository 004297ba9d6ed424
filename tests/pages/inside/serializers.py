"""Extra fields of a sign-up and of the profile, of several kinds."""

from datetime import date

from rest_framework import serializers

stored = {}
details = {}


class Extra(serializers.Serializer):
    birthday = serializers.DateField()
    size = serializers.ChoiceField([("s", "Small"), ("m", "Medium")])
    terms = serializers.BooleanField(default=False, label="I agree")
    shoes = serializers.IntegerField(required=False, allow_null=True)

    def update(self, user, values):
        stored.clear()
        stored.update(values)
        return user


class Closed(serializers.Serializer):
    """Refuses every sign-up for a reason that belongs to no field."""

    size = serializers.CharField()

    def validate(self, values):
        raise serializers.ValidationError("No more orders today.")

    def update(self, user, values):
        return user


class Details(serializers.Serializer):
    """Stored in `details`, not in the database."""

    motto = serializers.CharField(help_text="Others see it.")
    size = serializers.ChoiceField([("s", "Small"), ("m", "Medium")])

    def to_representation(self, user):
        return {"motto": "", "size": "s", **details}

    def update(self, user, values):
        details.update(values)
        return user


__all__ = ["Closed", "Details", "Extra", "date", "details", "stored"]
